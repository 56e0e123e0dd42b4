"""From probabilities to labels; works on arrays and labels only: no model is opened and no file is read here.

In the order of a decision, which `decoder.decode` takes: what the model says (`passage`, `word_properties`), what the
text says (`existing`, `evidence`), what is allowed (`breaks`), and the best reading (`decoder`, `paired_marks`).
`doubts` lists what a reviewer should see.
"""
