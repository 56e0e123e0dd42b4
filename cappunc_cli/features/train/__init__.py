"""`cappunc train`: a user's own text becomes a model directory; needs the extra `[train]`.

The steps, in order: `corpora` reads and checks the text, `recipe` chooses the settings, `dataset` turns the text into
arrays, `trainer` trains the network, `export` writes the model. The shipped models are made by the same code, which
`models/lab` extends.
"""
