"""Work on files: finding them, detecting encoding and language, batches, worker processes, resuming.

The command line, the Python interface and the cluster share this package, so nothing in it parses options or prints
usage.
"""
