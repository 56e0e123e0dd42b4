"""The engines by name; a listing of models needs no more than the name of their configs."""

from __future__ import annotations

from collections.abc import Mapping

from cappunc_cli.restoration.config import CONFIG, NGRAM_CONFIG

#: Name of an engine -> the config that its models have; `pipeline.load_model` opens them.
ENGINES: Mapping[str, str] = {"onnx": CONFIG, "ngram": NGRAM_CONFIG}
