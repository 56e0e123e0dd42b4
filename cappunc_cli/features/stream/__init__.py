"""Live words: from bytes to a live restorer and back, through a pipe or many WebSockets."""
