"""The names of speakers as readers see them: those given, and `Speaker 1` for the numbers of recognisers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from cappunc_cli.errors import BadOption

#: `spk_0`, `SPEAKER_01`, `S1`, `2`, `A`: what recognisers call speakers.
_LABEL = re.compile(
    r"(?:(?:spk|spkr|speaker|channel|ch|s)[ _-]?)?([0-9]{1,3})|(?:(?:speaker)[ _-]?)?([A-Z])", re.IGNORECASE
)


def asked_names(given: Sequence[str]) -> dict[str, str]:
    """The names asked for, by label: each of `given` is `LABEL=NAME`, or a file of such lines.

    Raises BadOption for anything else, and OSError.
    """
    names: dict[str, str] = {}
    for item in given:
        lines = [item] if "=" in item else [line for line in _lines(item) if line.strip() and not line.startswith("#")]
        for line in lines:
            label, equals, name = line.partition("=")
            if not (equals and label.strip() and name.strip()):
                raise BadOption(f"“{line.strip()}” is not LABEL=NAME, such as SPEAKER_01=Bob", "--speaker")
            names[label.strip()] = name.strip().strip('"')
    return names


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise BadOption(f"{file} is not text in UTF-8", "--speaker") from None
    except FileNotFoundError:
        raise BadOption(f"“{file}” is neither LABEL=NAME nor a file of such lines", "--speaker") from None


def shown_names(speakers: Mapping[int, str], asked: Mapping[str, str]) -> dict[int, str]:
    """The names of turns: as asked, as in the file, or `Speaker 1` for a recogniser's label.

    Labels that count from zero are counted from one.
    """
    numbers = [int(found[1]) for name in speakers.values() if (found := _LABEL.fullmatch(name)) and found[1]]
    first = 1 if 0 in numbers else 0

    def shown(name: str) -> str:
        if name in asked:
            return asked[name]
        found = _LABEL.fullmatch(name)
        if found is None:
            return name
        return f"Speaker {int(found[1]) + first}" if found[1] else f"Speaker {found[2].upper()}"

    return {turn: shown(name) for turn, name in speakers.items()}
