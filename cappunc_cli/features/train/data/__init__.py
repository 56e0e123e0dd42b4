"""From corpora to batches: texts, their arrays, training windows, and simulated ASR errors.

New corpora and kinds of sources go here; nothing here depends on the network.
"""
