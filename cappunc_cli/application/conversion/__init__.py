"""New files out of a transcript: captions, one to read, and words with times for other programs.

`made_captions` cuts words or takes a file's own cues, `readable` makes text and Markdown, `converter` is
`cappunc convert` for one file, `language_parts` says which model a file needs.
"""
