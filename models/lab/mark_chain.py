"""A linear-chain CRF over the marks of a text (Lafferty et al. 2001)."""

from __future__ import annotations

import torch
from torch import Tensor


def negative_log_likelihood(scores: Tensor, labels: Tensor, lengths: Tensor, transitions: Tensor) -> Tensor:
    """Mean negative log-likelihood per word of `labels` [texts, words] under `scores` [texts, words, marks].

    `transitions` [from, to] are added between neighbours; words beyond a text's length [texts] do not count.
    Texts are excerpts, so there are no scores for starting or ending with a mark.
    """
    words = scores.shape[1]
    there = torch.arange(words, device=scores.device) < lengths[:, None]
    own = scores.gather(2, labels[..., None])[..., 0]
    steps = transitions[labels[:, :-1], labels[:, 1:]]
    path = (own * there).sum(1) + (steps * there[:, 1:]).sum(1)
    # Forward algorithm: alpha [texts, marks] sums over all sequences that end at a word with each mark.
    alpha = scores[:, 0]
    for word in range(1, words):
        further = torch.logsumexp(alpha[:, :, None] + transitions, 1) + scores[:, word]
        alpha = torch.where(there[:, word, None], further, alpha)
    return (torch.logsumexp(alpha, 1) - path).sum() / lengths.sum()


def pad_texts(values: Tensor, lengths: Tensor) -> Tensor:
    """Split the concatenated words of all texts [all words, …] into texts [texts, words, …], padded with zeros."""
    return torch.nn.utils.rnn.pad_sequence(list(values.split(lengths.tolist())), batch_first=True)
