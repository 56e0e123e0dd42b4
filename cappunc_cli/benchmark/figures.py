"""A measurement as JSON and as table rows."""

from __future__ import annotations

from typing import Any


def figures(words: int, seconds: dict[str, float]) -> dict[str, Any]:
    """Words per second over all stages, and each stage's share of the time."""
    total = sum(seconds.values())
    return {
        "words": words,
        "seconds": round(total, 4),
        "words_per_second": round(words / total, 1),
        "shares": {stage: round(spent / total, 4) for stage, spent in seconds.items()},
    }


def lines(report: dict[str, Any]) -> list[tuple[str, ...]]:
    """Rows of the table: input, words, words/s, and the share of each stage in per cent."""
    rows = []
    for name, found in report["inputs"].items():
        shares = [f"{100 * share:.1f}" for share in found["shares"].values()]
        rows.append((name, f"{found['words']:,}", f"{found['words_per_second']:,.0f}", *shares))
    return rows
