"""Run `cappunc eval`: load references and hypotheses, or restore them with a model, score and report them.

The metrics are in `evaluation`; that package reads no files and loads no models.
"""
