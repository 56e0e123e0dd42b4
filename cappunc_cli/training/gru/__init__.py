"""Training of the recurrent network of live captions: the network on one page, its run, its step graph.

What learns and what is exported here, `restoration.gru` runs.
"""
