"""Training of the shipped models; needs the extra `[train]`. Nothing outside imports it.

python -m cappunc_cli.training.prepare models/en/train.toml   # corpora -> arrays
python -m cappunc_cli.training.train   models/en/train.toml   # resumable
python -m cappunc_cli.training.export  models/en/train.toml   # checkpoint -> models/en
"""
