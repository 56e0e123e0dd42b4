"""Restore the marks and case of words: chunks, model, decoding; `pipeline.py` has the whole flow.

`models` computes probabilities, and `decoding` turns them into labels. The modules here connect the two, for one text,
for many, and for live captions. Nothing here depends on a file or a format.
"""
