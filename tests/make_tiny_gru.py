"""Make tests/tiny_gru: a recurrent model of a few KB with random weights and the vocabulary of tests/tiny_model.

python tests/make_tiny_gru.py [DIRECTORY]
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path

import torch

from models.lab.gru.gru_export import build
from models.lab.gru.gru_network import GruSizes, RecurrentNetwork

HERE = Path(__file__).parent


def main(directory: Path) -> None:
    directory.mkdir(exist_ok=True)
    for name in ("tokenizer.json", "lexicon.txt"):
        shutil.copy(HERE / "tiny_model" / name, directory / name)
    config = json.loads((HERE / "tiny_model" / "config.json").read_text("utf-8"))
    vocabulary = json.loads((directory / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    torch.manual_seed(4)
    network = RecurrentNetwork(GruSizes(len(vocabulary), 6, 8, 8, 12, len(config["pause_bins_ms"]) + 1, 4, layers=2))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(std=0.7)
        for table in (network.words, network.pauses, network.turns):
            table.weight[0] = 0
        # A mark after every fifth word or so.
        network.mark_out.bias[0] += 3
        network.case.bias[0] += 1
    arrays = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    (directory / "gru.onnx").write_bytes(build(arrays, network.sizes, True, {}).SerializeToString())
    config["name"], config["files"] = "tiny-gru", {}
    for name in ("gru.onnx", "tokenizer.json", "lexicon.txt"):
        config["files"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    (directory / "gru.json").write_text(json.dumps(config, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "tiny_gru")
