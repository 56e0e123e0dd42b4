"""The common part of the text formats: cues and their times, tags, and the distinction of speech from everything else.

Everything here serves at least two formats; what only one format needs is in the module of that format.
"""
