"""What tests/benchmarks/mends.py gives and counts: whole turns, bare, and the program of another commit."""

from __future__ import annotations

import lzma
import subprocess
from pathlib import Path

import mends
import pytest


def test_the_words_of_whole_turns_are_given_without_marks_and_capitals(tmp_path: Path) -> None:
    file = tmp_path / "talk.txt.xz"
    file.write_bytes(lzma.compress("Well — “Hello, Ann!”\n\nYes. I'm here.\nNever read.\n".encode()))
    turns = list(mends.beginning(file, 4))
    assert [len(words) for words in turns] == [3, 3]
    assert mends.bare(turns) == "well hello ann\nyes i'm here\n"


def test_what_is_to_mend_is_counted_by_kind() -> None:
    count = mends.counted(["Oh,", "really?", "Yes.", "You", "know."], ["Oh", "really.", "Yes", "you", "know,"])
    # A comma and a question mark for a full stop; `Yes.`, which takes its capital along; the last full stop.
    assert {kind: found for kind, found in count.items() if found} == {
        "words": 5, "all edits": 4, "comma missed": 1, "question mark missed": 1, "sentence end missed": 2,
    }  # fmt: skip
    with pytest.raises(SystemExit, match="other"):
        mends.counted(["Oh."], ["Ah."])


def test_the_program_is_that_of_the_folder(tmp_path: Path) -> None:
    package = tmp_path / "cappunc_cli"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(
        "import sys\nsource, target = sys.argv[2], sys.argv[4]\nopen(target, 'w').write(open(source).read().upper())\n"
    )
    assert mends.fixed("oh yes\n", tmp_path, "en") == ["OH", "YES"]


def test_a_program_is_taken_out_of_git(tmp_path: Path) -> None:
    if subprocess.run(["git", "rev-parse", "HEAD"], cwd=mends.ROOT, capture_output=True, check=False).returncode:
        pytest.skip("no git here")
    found = mends.program_of("HEAD", tmp_path)
    assert (found / "cappunc_cli" / "__main__.py").exists()
    assert mends.digest(found / "models" / "en") != ""
