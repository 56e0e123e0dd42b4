"""Bytes on disk and in pipes: read once, decoded and encoded without loss, written in one step or not at all.

Nothing here knows what is in a file.
"""
