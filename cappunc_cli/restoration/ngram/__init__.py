"""The trigram engine: a language model of 1 MB in numpy, and the diacritics that it restores.

An engine as the ONNX one is; nothing outside needs to know how it comes by its probabilities.
"""
