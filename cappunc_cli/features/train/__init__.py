"""`cappunc train`: a user's own text becomes a model directory; needs the extra `[train]`.

The steps, in order: `custom_text` reads and checks the text, `custom_recipe` chooses the settings, `prepare` turns the
text into arrays, `trainer` trains the network, `export` writes the model. The shipped models are made by the same code,
which `models/lab` extends.
"""
