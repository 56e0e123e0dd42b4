"""Run `cappunc eval`: load references and hypotheses, or restore them with a model, score and report them.

The metrics are in `evaluation`, which reads no files and loads no models.
"""
