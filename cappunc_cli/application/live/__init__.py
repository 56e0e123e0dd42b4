"""Words while they are spoken: from bytes into a live restorer and out again, by a pipe or by many WebSockets.

What the words become is decided in `restoration.live` and `restoration.live_gru`.
"""
