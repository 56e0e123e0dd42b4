"""The source of a document: where words stand in it, what a viewer sees of it, how it is changed in place.

For every format, JSON included; nothing here knows a cue, a tag or a key of one format.
"""
