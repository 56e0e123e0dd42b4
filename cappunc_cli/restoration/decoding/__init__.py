"""From probabilities to labels: what a word can carry, what the text already shows, the most probable marks and cases.

Works on arrays and labels only: no model is opened and no file is read here.
"""
