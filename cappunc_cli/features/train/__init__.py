"""Training of the shipped models and of users' own models; needs the extra `[train]`. Only `cappunc train` imports it.

python -m cappunc_cli.features.train.<module> <recipe>, in this order:

encoders.save_encoder  mpnet runs/en            a pretrained encoder -> the start of a recipe
data.prepare           models/en/train.toml     corpora -> arrays
trainer                models/en/train.toml     trains; resumable
export.export_model    models/en/train.toml     checkpoint -> models/en
export.quantise        models/en/train.toml     8-bit matrix products with constant scales, for the CPU
score                  models/en/train.toml     cappunc eval on every set -> eval.json
experiments.card       models/en                eval.json -> CARD.md, READMEs, docs/models.md
experiments.study      models/en-fast/study.toml     the same sets with one option changed -> study.json
experiments.ablation   models/en-fast/ablation.toml  short runs with one setting changed -> ablation.json
experiments.thresholds models/en/train.toml     the bias of each mark, for the recipe's [decoding]
experiments.chain      models/en/train.toml     would a CRF over the marks help? -> chain.json
gru.gru_trainer        models/en-live/train.toml   the recurrent network of live captions; resumable
gru.gru_export         models/en-live/train.toml   its step graph -> models/en-live
ngram.estimate         ro --data DATA -o models/ro   the trigram model of a language; needs only numpy
"""
