"""The trigram engine: a language model of 1 MB in numpy, which can also restore diacritics.

It has the same interface as the ONNX engine.
"""
