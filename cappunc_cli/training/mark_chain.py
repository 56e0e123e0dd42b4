"""A linear chain over the marks of a text (Lafferty et al. 2001): how likely a sequence of marks is, whole."""

from __future__ import annotations

import torch
from torch import Tensor


def surprise(scores: Tensor, labels: Tensor, lengths: Tensor, transitions: Tensor) -> Tensor:
    """Mean negative log-likelihood per word of `labels` [texts, words] under `scores` [texts, words, marks].

    `transitions` [from, to] are added between neighbours; a text's words from its length [texts] on do not count.
    Texts are cut out of longer ones, so that nothing is known of their first and last marks.
    """
    words = scores.shape[1]
    there = torch.arange(words, device=scores.device) < lengths[:, None]
    own = scores.gather(2, labels[..., None])[..., 0]
    steps = transitions[labels[:, :-1], labels[:, 1:]]
    path = (own * there).sum(1) + (steps * there[:, 1:]).sum(1)
    # Sums over all sequences that end at a word with each mark: alpha [texts, marks].
    alpha = scores[:, 0]
    for word in range(1, words):
        further = torch.logsumexp(alpha[:, :, None] + transitions, 1) + scores[:, word]
        alpha = torch.where(there[:, word, None], further, alpha)
    return (torch.logsumexp(alpha, 1) - path).sum() / lengths.sum()


def side_by_side(values: Tensor, lengths: Tensor) -> Tensor:
    """Words of all texts one after the other [all words, …] as texts [texts, words, …], padded with zeros."""
    return torch.nn.utils.rnn.pad_sequence(list(values.split(lengths.tolist())), batch_first=True)
