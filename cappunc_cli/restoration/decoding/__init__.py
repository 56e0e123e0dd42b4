"""From probabilities to labels; works on arrays and labels only: no model is opened and no file is read here.

In the order of a decision, which `decoder.decode` takes: what the text says (`existing`, `evidence`), what the model
says (`passage`, `forms`, `breaks`), what is allowed (`word_properties`), and the best reading (`decoder`,
`capitals`, `paired_marks`).
"""
