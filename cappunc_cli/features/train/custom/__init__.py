"""`cappunc train`: a user's own text becomes a model directory.

What suits a text of unknown size and language comes here; the steps are those of the shipped models.
"""
