"""Files, pipes and URLs as bytes and text: lossless decoding and encoding, and atomic writes.

Nothing in this package knows the format of a file.
"""
