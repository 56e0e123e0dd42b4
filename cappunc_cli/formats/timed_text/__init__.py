"""Shared by the text formats: cues and their lines, tags, times, and what of a line is spoken.

Each module is for two formats at least; what one format alone needs stands in that format's own module.
"""
