"""Make new files from transcripts: captions, readable text, and words with times.

`made_captions` cuts words into captions or takes over a file's cues; `makers` is both commands for one file.
"""
