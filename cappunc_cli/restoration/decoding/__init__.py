"""From probabilities to labels; works on arrays and labels only: no model is opened and no file is read here.

In the order of a decision: what the text says (`existing`, `evidence`, `breaks`), what the model says (`passage`,
`forms`), what is allowed (`word_properties`), and the best reading (`decoder`, `paired_marks`).
"""
