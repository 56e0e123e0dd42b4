"""The recurrent network of live captions: the network, its training, and its export.

`restoration.gru` runs the exported network.
"""
