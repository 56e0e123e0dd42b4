"""The command line: the table of commands, and the options that several of them share."""
