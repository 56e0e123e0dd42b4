"""What the text formats share: cues, lines, tags, times, and the distinction of speech from everything else.

Everything here serves at least two formats; what only one format needs is in the module of that format.
"""
