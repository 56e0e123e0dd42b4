"""Estimates the trigram models of `restoration.ngram`.

Corpora and their reading are in `training.data`; what a model file looks like is said where it is read.
"""
