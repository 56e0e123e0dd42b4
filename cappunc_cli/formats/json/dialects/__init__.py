"""One module for each kind of JSON transcript, with `sniff(value)` and `tracks(value)`.

A dialect only tells where the words are; the package above reads and writes the JSON.
"""
