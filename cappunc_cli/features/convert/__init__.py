"""Make new files from transcripts: captions, readable text, and words with times.

`made_captions` cuts words into captions or takes over a file's cues; `readable` makes text, Markdown and JSON;
`converter` is `cappunc convert` for one file.
"""
