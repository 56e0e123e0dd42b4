"""Train a joint network from a recipe; the run can be stopped and resumed at any time.

    python -m cappunc_cli.features.train.trainer models/en/train.toml

On a CPU run it under jemalloc, which keeps the large blocks of a step, while glibc returns them to
the kernel page by page (twice as fast; Debian: libjemalloc2):

    LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1 python -m …

Checkpoints go to the recipe's `runs` folder every few minutes and on Ctrl-C; the same command
resumes. The learning rate is held after the warm-up and falls linearly over the last `decay`
of `tokens`, so a run can be lengthened until its decay begins.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor

from cappunc_cli.document.labels import PairedMark
from cappunc_cli.errors import BadModel
from cappunc_cli.features.train import encoders, pause_tables, vocabulary_transfer
from cappunc_cli.features.train.data.asr_noise import AsrNoise, look_alikes
from cappunc_cli.features.train.data.corpora import CORPORA, Corpus
from cappunc_cli.features.train.data.dataset import PAIRED_MARKS, TokenStream, Vocabulary
from cappunc_cli.features.train.data.windows import IGNORED, Batch, Windows
from cappunc_cli.features.train.export import onnx_weights
from cappunc_cli.features.train.f1_counter import FOLDED, F1Counter
from cappunc_cli.features.train.mark_chain import negative_log_likelihood, pad_texts
from cappunc_cli.features.train.network import (
    NEIGHBOURS,
    JointNetwork,
    NetworkShape,
    initialise,
    mixed_precision,
    start_from,
    stored_shape,
)
from cappunc_cli.features.train.recipe import Recipe
from cappunc_cli.features.train.teacher import Teacher
from cappunc_cli.features.train.training_run import Learner, Progress, resume, run

#: The number of `largest_corpora`.
DEVELOPMENT = 6


def load_windows(recipe: Recipe, corpora: Mapping[str, Corpus] = CORPORA) -> Windows:
    """Load the prepared arrays of a recipe."""
    folder = recipe.arrays()
    names = recipe.texts()
    streams = {name: TokenStream.load(folder / f"{name}.npz") for name in names}
    ellipsis = {name: corpora[name].ellipsis for name in names}
    vocabulary = Vocabulary.load(folder / "vocabulary.npz")
    alike = None
    if recipe.noise and recipe.similar:
        counts = sum(np.bincount(streams[name].types, minlength=len(vocabulary.cases)) for name in recipe.corpora)
        alike = look_alikes(vocabulary, np.asarray(counts), Tokenizer.from_file(str(recipe.tokenizer)))
    return Windows(recipe, streams, ellipsis, vocabulary, AsrNoise(recipe.similar, alike))


def tensors(batch: Batch, device: torch.device) -> list[Tensor]:
    """The inputs of a batch on `device`: ids, attention, pauses, turns, styles."""
    inputs = (batch.ids, batch.attention, batch.pauses, batch.turns, batch.styles)
    return [torch.from_numpy(a).to(device) for a in inputs]


def loss_of(
    network: JointNetwork, batch: Batch, recipe: Recipe, device: torch.device, teacher: Teacher | None = None
) -> tuple[Tensor, Tensor]:
    """The losses of all marks and of case: weighted cross-entropies over the words of a batch.

    The targets are the labels of the text, blended with the probabilities of the `teacher`.
    """
    taught = teacher.read(batch) if teacher is not None else None
    with mixed_precision(device):
        states = network.encode(*tensors(batch, device))
        at = torch.from_numpy(np.flatnonzero(batch.marks != IGNORED)).to(device)
        case, marks, *around = network.heads(states.flatten(0, 1)[at])
    weights = torch.from_numpy(batch.weights).to(device).flatten()[at]

    def entropy(logits: Tensor, labels: Any, soft: Tensor | None) -> Tensor:
        target = torch.from_numpy(labels).to(device).flatten()[at]
        if taught is not None and soft is not None:
            target = F.one_hot(target, logits.shape[-1]).float()
            target[taught.at] = target[taught.at].lerp(soft, recipe.taught)
        return (F.cross_entropy(logits.float(), target, reduction="none") * weights).sum() / weights.sum()

    loss = entropy(marks, batch.marks, taught.marks if taught else None)
    if network.crf is not None:
        lengths = torch.from_numpy((batch.marks != IGNORED).sum(1))
        gold = torch.from_numpy(batch.marks[batch.marks != IGNORED]).to(device)
        laid = pad_texts(marks.float(), lengths), pad_texts(gold, lengths)
        loss = loss.lerp(negative_log_likelihood(*laid, lengths.to(device), network.crf), recipe.crf)
    if around:
        bits = np.array([1 << PAIRED_MARKS.index(PairedMark(mark)) for mark in recipe.around], np.uint8)
        known = (batch.around[..., None] & bits > 0).astype(np.float32)  # (B, T, around)
        target = torch.from_numpy(known).to(device).flatten(0, 1)[at]
        single = F.binary_cross_entropy_with_logits(around[0].float(), target, reduction="none").sum(-1)
        loss = loss + (single * weights).sum() / weights.sum()
    return loss, entropy(case, batch.cases, taught.case if taught else None) * recipe.case_weight


def largest_corpora(recipe: Recipe) -> list[str]:
    """The corpora whose held-out ends are scored during a run, the largest share first."""
    return sorted(recipe.corpora, key=lambda name: -recipe.corpora[name])[:DEVELOPMENT]


@torch.no_grad()
def score_heldout(network: JointNetwork, windows: Windows, device: torch.device, words: int = 6000) -> dict[str, float]:
    """Micro-F1 over , . ? (folded) and of capital forms on held-out parts of the corpora."""
    network.eval()
    scores: dict[str, float] = {}
    watched = largest_corpora(windows.recipe)
    timed = {name for name in watched if windows.streams[name].timed}
    for name, show_pauses in [*((name, False) for name in watched), *((name, True) for name in sorted(timed))]:
        of_marks, of_case = F1Counter(), F1Counter()
        for batch in windows.heldout(name, 192, words, show_pauses):
            with mixed_precision(device):
                case, marks, *_ = network(*tensors(batch, device))
            known = batch.marks != IGNORED
            of_marks.add(FOLDED[marks.argmax(-1).cpu().numpy()[known]], FOLDED[batch.marks[known]])
            of_case.add(case.argmax(-1).cpu().numpy()[known], batch.cases[known])
        key = f"{name}+pauses" if show_pauses else name
        scores[key] = round(100 * of_marks.f1, 2)
        scores[f"{key} case"] = round(100 * of_case.f1, 2)
    network.train()
    return scores


def optimiser_of(network: JointNetwork, recipe: Recipe) -> torch.optim.Optimizer:
    """AdamW with weight decay on matrices only; heads and small new tables have a higher learning rate."""
    groups: dict[tuple[float, bool], list[torch.nn.Parameter]] = {}
    for name, parameter in network.named_parameters():
        body = name.startswith(("places", "norm", "blocks"))
        peak = recipe.encoder_rate if body else recipe.head_rate
        if name.startswith("words"):
            peak = recipe.word_rate or recipe.encoder_rate
        groups.setdefault((peak, parameter.ndim > 1), []).append(parameter)
    settings = [
        {"params": parameters, "peak": peak, "weight_decay": 0.01 if matrix else 0.0}
        for (peak, matrix), parameters in groups.items()
    ]
    return torch.optim.AdamW(settings, betas=(0.9, 0.98), fused=True)


def network_of(recipe: Recipe, weights: Mapping[str, Tensor] | None = None) -> JointNetwork:
    """The network of a recipe, with `weights` or with those that the run starts from.

    A run starts from a model.onnx, a safetensors file, random weights, or the pretrained MiniLM-L6.
    """
    start = recipe.start
    old = onnx_weights.read(start) if start is not None and start.suffix == ".onnx" else None
    stored = stored_shape(start) if start is not None and not old else None
    shape = _shape(recipe, old[0] if old else None, stored)
    styles = len(recipe.corpora) if recipe.styled else 0
    bins, late = len(recipe.pause_bins_ms) + 1, recipe.pause_fusion != "early"
    shape = replace(shape, styles=styles, crf=recipe.crf > 0, pause_bins=bins, late_pauses=late)
    network = JointNetwork(shape, recipe.dropout)
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
        words.copy_(torch.from_numpy(vocabulary_transfer.vectors_from_own_text(recipe, words.numpy())))
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


def _shape(recipe: Recipe, old: NetworkShape | None, encoder: NetworkShape | None) -> NetworkShape:
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
    alike = replace(network.shape, pause_bins=shape.pause_bins, late_pauses=shape.late_pauses)
    if replace(alike, styles=0, crf=False) == shape:
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


def transfer_words(network: JointNetwork, recipe: Recipe, state: Mapping[str, Tensor]) -> None:
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


def train(
    recipe: Recipe,
    device: torch.device,
    corpora: Mapping[str, Corpus] = CORPORA,
    report: Callable[[Progress], None] | None = None,
    look_every: int = 1000,
    patience: int = 0,
) -> None:
    """Run or resume a recipe to its end, as `training_run.run`."""
    torch.manual_seed(recipe.seed)
    windows = load_windows(recipe, corpora)
    saved = resume(recipe)
    network = network_of(recipe, saved.get("network"))
    network.to(device).train()
    optimiser = optimiser_of(network, recipe)
    teacher = Teacher(recipe.teacher, recipe, device) if recipe.teacher is not None else None

    def losses(rng: np.random.Generator) -> tuple[Sequence[Tensor], int]:
        batch = windows.batch(rng)
        return loss_of(network, batch, recipe, device, teacher), batch.ids.size

    def score() -> dict[str, float]:
        return score_heldout(network, windows, device)

    run(recipe, Learner(network, optimiser, losses, score), saved, look_every, report, patience)


if __name__ == "__main__":
    train(Recipe.load(Path(sys.argv[1])), torch.device("cuda" if torch.cuda.is_available() else "cpu"))
