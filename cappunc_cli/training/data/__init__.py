"""From corpora to batches: texts, their arrays, training windows, and the noise of recognisers.

A new corpus or kind of source comes here; nothing here knows the network.
"""
