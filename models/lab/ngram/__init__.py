"""Estimation of the trigram models that `restoration.ngram` runs.

Corpora and their readers are in `training.data`; `restoration.ngram.trigrams` defines the file format.
"""
