"""Caption layout: where lines break, where captions end, and how captions are written to a file.

Only `cappunc captions` and live captions use this package; `cappunc fix` leaves every line break as it is.
"""
