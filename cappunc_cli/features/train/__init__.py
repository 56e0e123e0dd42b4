"""`cappunc train`: a user's own text becomes a model directory; needs the extra `[train]`.

The steps, in order: `corpora` reads and checks the text, `recipe` chooses the settings, `dataset` turns the text into
arrays, `trainer` trains the network, `custom_model` writes the model. `models/lab` makes the shipped models with them.
"""
