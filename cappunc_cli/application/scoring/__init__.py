"""The work of `cappunc eval`: references and hypotheses from files or from a model, scored and reported.

Metrics are in `evaluation`, which reads no file and opens no model.
"""
