"""Train a joint network from a recipe; the run can be stopped and resumed at any time.

    python -m models.lab.trainer models/en/train.toml

On a CPU run it under jemalloc, which keeps the large blocks of a step, while glibc returns them to
the kernel page by page (twice as fast; Debian: libjemalloc2):

    LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1 python -m …

Checkpoints go to the recipe's `runs` folder every few minutes, on Ctrl-C and SIGTERM; the same command
resumes. The learning rate is held after the warm-up and falls linearly over the last `decay`
of `tokens`, so a run can be lengthened until its decay begins.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MethodType
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from cappunc_cli.errors import BadModel
from cappunc_cli.features.train.dataset import IGNORED
from cappunc_cli.features.train.network import Block, JointNetwork, initialise, mixed_precision, read_weights
from cappunc_cli.features.train.trainer import (
    Learner,
    Progress,
    make_optimiser,
    paired_targets,
    resume,
    run,
    score_heldout,
    tensors,
)
from cappunc_cli.restoration.models.graph import NEIGHBOURS, NetworkShape
from models.lab import encoders, pause_tables, vocabulary_transfer
from models.lab.arrays import running_pieces
from models.lab.corpora import CORPORA
from models.lab.mark_chain import negative_log_likelihood, pad_texts
from models.lab.network import Extras, LabNetwork, start_from, stored_shape
from models.lab.readers import Source
from models.lab.recipe import LabRecipe
from models.lab.spectral import vectors_from_own_text
from models.lab.teacher import Teacher
from models.lab.windows import LabBatch, LabWindows

_LOG_EVERY = 20  # steps
#: Runs of this many pieces on are worth the minute that compiling takes.
_COMPILED = 500_000
#: The number of `largest_corpora`.
_WATCHED = 6


class LabelledWords:
    """The labelled words of a batch: the indices `at` of their last pieces, and their weights in the loss."""

    def __init__(self, batch: LabBatch, device: torch.device) -> None:
        self.batch, self.device = batch, device
        self.at = torch.from_numpy(np.flatnonzero(batch.marks != IGNORED)).to(device)
        self.weights = self.of(batch.weights)

    def of(self, values: NDArray[Any]) -> Tensor:
        """The values [rows, pieces, …] of the words, [words, …]."""
        return torch.from_numpy(values).to(self.device).flatten(0, 1)[self.at]

    def mean(self, losses: Tensor) -> Tensor:
        """The weighted mean of a loss per word."""
        return (losses * self.weights).sum() / self.weights.sum()

    def entropy(self, logits: Tensor, target: Tensor) -> Tensor:
        """The cross-entropy of logits [words, labels] and labels [words] or their probabilities [words, labels]."""
        return self.mean(F.cross_entropy(logits.float(), target, reduction="none"))

    def paired(self, logits: Tensor, marks: Sequence[str]) -> Tensor:
        """The binary cross-entropies of the paired marks, of which a word may have several."""
        target = self.of(paired_targets(self.batch, marks))
        return self.mean(F.binary_cross_entropy_with_logits(logits.float(), target, reduction="none").sum(-1))


def loss_of(
    network: LabNetwork, batch: LabBatch, recipe: LabRecipe, device: torch.device, teacher: Teacher | None = None
) -> tuple[Tensor, Tensor]:
    """The losses of all marks and of case, as `trainer.loss_of` of `cappunc train`.

    The targets are the labels of the text, blended with the probabilities of the `teacher`.
    """
    taught = teacher.read(batch) if teacher is not None else None
    words = LabelledWords(batch, device)
    with mixed_precision(device):
        ids, attention, pauses, turns, lines = tensors(batch, device)
        styles = torch.from_numpy(batch.styles).to(device)
        states = network.encode(ids, attention, pauses, turns, lines, styles)
        case, marks, *around = network.heads(states.flatten(0, 1)[words.at])

    def entropy(logits: Tensor, target: Tensor, soft: Tensor | None) -> Tensor:
        if taught is not None and soft is not None:
            target = F.one_hot(target, logits.shape[-1]).float()
            target[taught.at] = target[taught.at].lerp(soft, recipe.taught)
        return words.entropy(logits, target)

    loss = entropy(marks, words.of(batch.marks), taught.marks if taught else None)
    if network.crf is not None:
        lengths = torch.from_numpy((batch.marks != IGNORED).sum(1))
        gold = torch.from_numpy(batch.marks[batch.marks != IGNORED]).to(device)
        laid = pad_texts(marks.float(), lengths), pad_texts(gold, lengths)
        loss = loss.lerp(negative_log_likelihood(*laid, lengths.to(device), network.crf), recipe.crf)
    if around:
        loss = loss + words.paired(around[0], recipe.around)
    return loss, entropy(case, words.of(batch.cases), taught.case if taught else None) * recipe.case_weight


def network_of(recipe: LabRecipe, weights: Mapping[str, Tensor] | None = None) -> LabNetwork:
    """The network of a recipe, with `weights` or with those that the run starts from.

    A run starts from a model.onnx, a safetensors file, random weights, or the pretrained MiniLM-L6.
    """
    start = recipe.start
    old = read_weights(start) if start is not None and start.suffix == ".onnx" else None
    stored = stored_shape(start) if start is not None and not old else None
    shape = replace(_shape(recipe, old[0] if old else None, stored), pause_bins=len(recipe.pause_bins_ms) + 1)
    styles = len(recipe.corpora) if recipe.styled else 0
    network = LabNetwork(shape, recipe.dropout, Extras(styles, recipe.crf > 0, recipe.pause_fusion != "early"))
    pause_tables.encode(network, recipe)
    fresh = {name: value.clone() for name, value in network.state_dict().items() if name.startswith(recipe.fresh)}
    if weights is not None:
        network.load_state_dict(weights)
    elif old is not None:
        transplant(network, *old, recipe.fresh)
        if recipe.transfer:
            transfer_words(network, recipe, old[1])
    elif start is None and recipe.network:
        initialise(network)
        words = network.words.weight.data
        pieces = running_pieces(recipe, recipe.corpora)
        words.copy_(torch.from_numpy(vectors_from_own_text(pieces, words.numpy())))
    else:
        start_from(network, load_file(start) if start else encoders.read("minilm").state)
    if weights is None:
        network.load_state_dict(fresh, strict=False)
    if recipe.pause_fusion == "late":
        network.pauses.weight.requires_grad_(False).zero_()
    if not recipe.soft_case:
        network.soft_case.weight.requires_grad_(False).zero_()
    if not recipe.contextual:
        only_soft_case = torch.arange(network.mark_in.in_features) >= network.shape.width
        network.mark_in.weight.data *= only_soft_case
        network.mark_in.weight.register_hook(lambda gradient: gradient * only_soft_case.to(gradient.device))
    return network


def _shape(recipe: LabRecipe, old: NetworkShape | None, encoder: NetworkShape | None) -> NetworkShape:
    """The sizes for a recipe: those of the `old` model or the encoder that it starts from, its own, or MiniLM's.

    A recipe with its own vocabulary takes only the other sizes from the old model.
    """
    if old is not None and not recipe.vocabulary:
        return old
    if old is None and encoder is None and not recipe.network:
        return NetworkShape(around=len(recipe.around))
    vocabulary = Tokenizer.from_file(str(recipe.tokenizer)).get_vocab_size()
    return replace(old or encoder or NetworkShape(), vocabulary=vocabulary, around=len(recipe.around), **recipe.network)


def transplant(
    network: JointNetwork, shape: NetworkShape, state: dict[str, Tensor], fresh: tuple[str, ...] = ()
) -> None:
    """Copy the weights of another network; if its vocabulary differs, all but the piece vectors.

    Parts that the other network lacks (styles, a chain, late pauses) stay as they are. If the two differ only in how
    they read pauses, and those parts are not `fresh`, raises BadModel, or RuntimeError for tables of different sizes.

    How attention finds neighbours, what a pause means, and which mark goes with which case hardly depend on
    the language (Artetxe et al. 2020 transfer an encoder to new languages by learning only its word embeddings).
    """
    if replace(network.shape, pause_bins=shape.pause_bins) == shape:
        kept = {name: value for name, value in state.items() if not name.startswith(fresh)}
        if unexpected := network.load_state_dict(kept, strict=False).unexpected_keys:
            raise BadModel(f"the network has no {', '.join(unexpected)}, which its start has; name them in `fresh`?")
        return
    initialise(network)
    own = network.state_dict()
    places = min(len(own["places.weight"]), len(state["places.weight"]))
    own["places.weight"][:places] = state["places.weight"][:places]
    same = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    network.load_state_dict(own | {name: value for name, value in same.items() if not name.startswith("words")})


def transfer_words(network: JointNetwork, recipe: LabRecipe, state: Mapping[str, Tensor]) -> None:
    """Initialise the piece vectors from those of another language's model, `state` (`vocabulary_transfer`)."""
    vectors, counts = vocabulary_transfer.transferred_vectors(recipe, state["words.weight"].numpy())
    initial = {"words.weight": vectors}
    if network.widen is not None:
        codes, directions, mean = vocabulary_transfer.narrowed(vectors, counts, network.shape.embedding)
        codes[network.words.padding_idx] = 0
        # The piece itself contributes what it did there; the contribution of its neighbours has to be learnt.
        kernel = np.zeros(network.widen.weight.shape, np.float32)
        kernel[:, :, NEIGHBOURS] = directions
        initial = {"words.weight": codes, "widen.weight": kernel, "widen.bias": mean}
    network.load_state_dict({name: torch.from_numpy(value) for name, value in initial.items()}, strict=False)


def train(recipe: LabRecipe, device: torch.device, corpora: Mapping[str, Source] = CORPORA) -> None:
    """Run or resume a recipe to its end, as `trainer.run`."""
    torch.manual_seed(recipe.seed)
    windows = LabWindows.load(recipe, corpora)
    network = network_of(recipe, resume(recipe).get("network"))
    network.to(device).train()
    if recipe.tokens >= _COMPILED:
        # Between the products a layer only moves numbers: compiled, it does so once.
        compiled = torch.compile(Block.forward, dynamic=True)
        for block in network.blocks:
            block.forward = MethodType(compiled, block)
    teacher = Teacher(recipe.teacher, recipe, device) if recipe.teacher is not None else None

    def losses(rng: np.random.Generator) -> tuple[Sequence[Tensor], int]:
        batch = windows.batch(rng)
        return loss_of(network, batch, recipe, device, teacher), batch.ids.size

    texts = {name: windows.heldout(name, 192, 6000) for name in largest_corpora(recipe)}
    learner = Learner(network, make_optimiser(network, recipe), losses, lambda: score_heldout(network, texts, device))
    run(recipe, learner, log_of(recipe), look_every=1000)


def largest_corpora(recipe: LabRecipe) -> list[str]:
    """The corpora whose held-out ends are scored during a run, the largest share first."""
    return sorted(recipe.corpora, key=lambda name: -recipe.corpora[name])[:_WATCHED]


def log_of(recipe: LabRecipe) -> Callable[[Progress], None]:
    """Reports every 20th step of a run in log.jsonl in its `runs` folder."""
    began: list[float] = []

    def log(progress: Progress) -> None:
        began[:] = began or [time.monotonic(), progress.tokens]
        if progress.step % _LOG_EVERY:
            return
        pace = (progress.tokens - began[1]) / max(time.monotonic() - began[0], 1e-3)
        entry: dict[str, object] = {"step": progress.step, "tokens": progress.tokens}
        entry["loss"] = [round(loss, 4) for loss in progress.losses]
        entry |= {"rate": round(progress.rate, 3), "tokens/s": round(pace)}
        entry |= {"development": progress.development} if progress.development else {}
        with (recipe.runs / "log.jsonl").open("a", encoding="utf-8") as lines:
            print(json.dumps(entry), file=lines)

    return log


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # `run` saves what was learnt
    train(LabRecipe.load(Path(sys.argv[1])), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
