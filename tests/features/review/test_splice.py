"""The file that the page alone writes: byte for byte what cappunc makes of the same decisions."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import cappunc_cli
from cappunc_cli.document.labels import cached_strip
from cappunc_cli.features.review.decisions import Decision, DecisionFile, sha256, with_decisions
from cappunc_cli.features.review.doubts import with_file
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.request import FixRequest
from cappunc_cli.pages.review_page import comparison

FIXTURES = Path(__file__).parents[3] / "fixtures"
FORMATS = ("srt", "vtt", "txt", "ass", "sbv", "lrc", "sami", "ttml", "srv3")
FILES = [
    path
    for name in FORMATS
    for path in sorted((FIXTURES / name).iterdir())
    if ".fixed." not in path.name and path.suffix != ".json"
]
SPLICE = Path(cappunc_cli.__file__).parent / "pages" / "splice.js"
REQUEST = FixRequest()
#: A decision of the page: the word, from 0, and how it is written then.
Change = tuple[int, str, str, str]


def opened(path: Path, data: bytes) -> dict[str, Any]:
    """What the page of a file knows that is there to write it."""
    text, _ = decode(data)
    document = REQUEST.read(text, path.name)
    return {**comparison(document, path.name, document.texts, ""), **with_file(document, data)}


def decided(found: dict[str, Any], dice: random.Random) -> list[Change]:
    """As an editor may decide about the words that the page may write: another mark, another case."""
    places = [i for i, place in enumerate(found["places"]) if place is not None]
    changes = []
    for i in sorted(dice.sample(places, min(len(places), 40))):
        bare, label = cached_strip(found["texts"][i])
        # Σ is σ in lower case, and ς at the end of a word.
        core = dice.choice([bare, bare.capitalize(), bare if "ς" in bare else bare.upper()])
        after = label.with_mark(dice.choice(["", *",.?!;…—"])).after
        kept = found["texts"][i][len(label.before) : len(found["texts"][i]) - len(label.after)]
        same = len(core) == len(kept) and core.lower() == kept.lower()
        changes.append((i, label.before, core if same else kept, after))
    return changes


def by_node(jobs: list[tuple[dict[str, Any], list[Change]]]) -> list[str | None]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    code = SPLICE.read_text("utf-8") + (
        "const jobs = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "process.stdout.write(JSON.stringify(jobs.map(([found, changes]) => splicedFile(found, changes))));"
    )
    run = subprocess.run([node, "-e", code], input=json.dumps(jobs), capture_output=True, text=True, check=True)
    result = json.loads(run.stdout)
    assert isinstance(result, list)
    return result


def test_the_page_writes_what_cappunc_writes() -> None:
    dice = random.Random(5)
    jobs, wanted = [], []
    for path in FILES:
        data = path.read_bytes()
        try:
            found = opened(path, data)
        except cappunc_cli.CappuncError:
            continue
        if found["no_file"] or not any(place is not None for place in found["places"]):
            continue
        changes = decided(found, dice)
        own = tuple(Decision(i, found["texts"][i], "".join(parts)) for i, *parts in changes)
        own = tuple(one for one in own if one.was != one.text)
        result = with_decisions(data, DecisionFile(sha256(data), own), REQUEST, Job(str(path), None))
        assert result.refused == (), path
        jobs.append((found, changes))
        wanted.append(result.data.decode("utf-8"))
    assert {path.parent.name for path in FILES} == set(FORMATS)
    assert len(jobs) > 30
    assert by_node(jobs) == wanted


FILM = "\ufeff1\r\n00:00:01,000 --> 00:00:02,000\r\n𝄞 <i>we</i> went [noise] home\r\nmary: we w<b>en</b>t\r\n".encode()


def test_ambiguous_words_are_left_to_cappunc() -> None:
    # In a cue with a colon any word may be a speaker's.
    found = opened(Path("a.srt"), FILM)
    assert set(found["places"]) == {None}
    plain = opened(Path("a.srt"), FILM.replace(b"mary:", b"mary"))
    texts = plain["texts"]
    assert texts[-6:] == ["we", "went", "home", "mary", "we", "went"]
    at = texts.index("home")
    assert plain["places"][-1] is None  # a tag within the word
    changes: list[list[Change]] = [
        [(at, "", "Home", ".")],
        [(at, "", "Home", ":")],
        [(at, "—", "home", "")],
        [(at, "", "house", "")],
        [(at, "", "home", " .")],
        [(at, "", "home", "<b>")],
        [(len(texts) - 1, "", "Went", "")],
    ]
    got = by_node([(plain, some) for some in changes])
    assert got[0] == FILM.replace(b"mary:", b"mary").decode().replace("home", "Home.")
    assert got[1:] == [None] * 6


def test_escaped_words_are_left_to_cappunc() -> None:
    found = opened(Path("a.srt"), b"1\n00:00:01,000 --> 00:00:02,000\ns>dream< i www.go.com 42. go\n")
    assert [place is not None for place in found["places"]] == [text in ("i", "go") for text in found["texts"]]


def test_a_word_with_a_mark_before_an_address_with_one_is_left_to_cappunc() -> None:
    found = opened(Path("a.txt"), b"come and see us, www.example.org. or not")
    assert [place is not None for place in found["places"]] == [text != "us," for text in found["texts"]]


def test_a_file_that_is_not_utf_8_or_has_entries_is_not_written() -> None:
    assert opened(Path("a.txt"), "der käse war gut, süß und schön für alle Leute".encode("cp1252"))["no_file"]
    assert opened(Path("a.txt"), "we went home".encode("utf-16"))["no_file"]
    assert opened(Path("a.ctm"), b"talk 1 0.0 0.4 we\ntalk 1 0.5 0.4 went\n")["no_file"]
    assert opened(Path("a.txt"), b"we went home")["no_file"] == ""
