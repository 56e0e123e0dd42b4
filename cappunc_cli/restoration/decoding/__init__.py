"""From probabilities to labels: what a word can carry, what the text already shows, the likeliest marks and cases.

Arrays and labels only: no model is opened and no file is read here.
"""
