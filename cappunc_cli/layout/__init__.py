"""Caption layout: where lines break, where captions end, and how captions are written to a file.

`cappunc fix` leaves every line break as it is.
"""
