"""One module for each kind of JSON transcript: `sniff(value)` and `tracks(value)`, nothing else.

How JSON is read and written in place is in the folder above; a dialect only says where its words stand.
"""
