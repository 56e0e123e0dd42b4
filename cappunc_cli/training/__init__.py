"""Training of the shipped models; needs the extra `[train]`. Nothing outside imports it.

python -m cappunc_cli.training.prepare models/en/train.toml   # corpora -> arrays
python -m cappunc_cli.training.train   models/en/train.toml   # resumable
python -m cappunc_cli.training.export  models/en/train.toml   # checkpoint -> models/en
python -m cappunc_cli.training.quantise models/en/train.toml  # 8-bit products with constant scales, for the CPU
python -m cappunc_cli.training.score   models/en/train.toml   # cappunc eval on every set -> eval.json
python -m cappunc_cli.training.card    models/en              # eval.json -> CARD.md and the READMEs
python -m cappunc_cli.training.study   models/en/study.toml   # the same sets with one thing changed -> study.json
python -m cappunc_cli.training.ablation models/en/ablation.toml  # short runs with one thing changed -> ablation.json
python -m cappunc_cli.training.thresholds models/en/train.toml  # the bias of each mark, for the recipe's [decoding]
python -m cappunc_cli.training.chain   models/en/train.toml   # would a CRF over the marks help? -> chain.json
python -m cappunc_cli.training.ngram   ro --data DATA -o models/ro   # the trigram model of a language; numpy alone
"""
