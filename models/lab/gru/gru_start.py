"""Initialisation of a recurrent network from an exported one, which may have other sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from torch import Tensor

from models.lab.gru.gru_network import RecurrentNetwork

#: Weights that read a word's vector in their first columns.
_READERS = ("ahead.0.weight_ih_l0", "back.weight_ih_l0", "joined.weight")
_VECTORS = ("words.weight", "pauses.weight", "turns.weight")


def read(path: Path) -> dict[str, Tensor]:
    """The state dict of a network that `gru_export` wrote."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}

    def whole(name: str) -> NDArray[np.float32]:
        scale = stored.get(f"{name}.scale")
        found: NDArray[np.float32] = stored[name] if scale is None else stored[name] * scale
        return found

    after = stored["after.table"]
    turned = len(after) // 2
    found = {
        "words.weight": whole("words"),
        "pauses.weight": after[:turned],
        "turns.weight": after[[0, turned]],
        "soft_case.weight": stored["soft_case"].T,
    }
    layers = sum(name.startswith("ahead.") and name.endswith(".weight_hh") for name in stored)
    for gru in (*(f"ahead.{layer}" for layer in range(layers)), "back"):
        bias_ih, bias_hh = np.split(stored[f"{gru}.bias"][0], 2)
        parts = {f"weight_{kind}": whole(f"{gru}.weight_{kind}")[0] for kind in ("ih", "hh")}
        for kind, array in {**parts, "bias_ih": bias_ih, "bias_hh": bias_hh}.items():
            # ONNX has update, reset and new; torch has reset, update and new.
            update, reset, new = np.split(array, 3)
            found[f"{gru}.{kind}_l0"] = np.concatenate([reset, update, new])
    for name in ("joined", "case", "mark_in", "mark_out"):
        found |= {f"{name}.{kind}": whole(f"{name}.{kind}") for kind in ("weight", "bias")}
    forward, embedding = found["ahead.0.weight_hh_l0"].shape[1], found["words.weight"].shape[1]
    output, vector, back = np.split(found["joined.weight"], [forward, forward + embedding], 1)
    found["joined.weight"] = np.concatenate([vector, output, back], 1)
    return {name: torch.tensor(array) for name, array in found.items()}


def start_from_exported(network: RecurrentNetwork, path: Path) -> None:
    """Copy the weights of an exported network.

    Its piece vectors are projected on as many of their principal directions as the network has numbers per piece. A
    tensor of another shape is left as it is, except for columns that read what both networks have; a forward layer that
    the other lacks starts with an output of zero.
    """
    own, theirs = network.state_dict(), read(path)
    table = theirs["words.weight"].double()
    width = network.sizes.embedding
    _, directions = torch.linalg.eigh(table.T @ table)
    turn = directions[:, -width:].float()
    for name in _VECTORS:
        theirs[name] = theirs[name] @ turn
    for name in _READERS:
        vector, others = theirs[name].split([len(turn), theirs[name].shape[1] - len(turn)], 1)
        theirs[name] = torch.cat((vector @ turn, others), 1)
    for name, value in own.items():
        if name not in theirs:
            value.zero_()  # an additional layer: its state stays at zero
        elif theirs[name].shape == value.shape:
            value.copy_(theirs[name])
        elif name == "joined.weight":
            # The columns that read a backward state of another width keep their initialisation.
            columns = width + network.sizes.forward
            value[:, :columns] = theirs[name][:, :columns]
    network.load_state_dict(own)
