"""The nouns that everyone shares: a document, its words, their labels, the pauses between them.

Nothing here knows a file, a format or a model, and nothing is imported but the standard library.
"""
