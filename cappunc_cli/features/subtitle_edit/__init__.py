"""`cappunc subtitle-edit`: a plug-in of Subtitle Edit 5, a program that answers a request in a file."""
