"""stable-ts: like openai-whisper; `ori_dict` is the original result and stays as it is."""

from __future__ import annotations

from collections.abc import Iterator

from cappunc_cli.formats.json import segments
from cappunc_cli.formats.json.tracks import Track


def sniff(value: object) -> bool:
    if not isinstance(value, dict) or not segments.find_segments(value):
        return False
    return any(key in value for key in ("ori_dict", "regroup_history", "nonspeech_sections"))


def tracks(value: object) -> Iterator[Track]:
    yield segments.track(value, "word")
