"""The shared data types: a document, its words, their labels, and the pauses between them.

Nothing here depends on a file, a format or a model, and only the standard library is imported.
"""
