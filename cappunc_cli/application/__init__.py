"""The application: which files, in which encoding and language, in batches, by several processes, resumed.

The command line, the Python interface and a cluster share it, so nothing here knows an option or prints a usage.
"""
