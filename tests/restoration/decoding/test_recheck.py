"""`--existing recheck`: marks that are nearly certainly wrong go, and are listed; the others stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.options import Options
from cappunc_cli.restoration.pipeline import restore

WRONG = (
    "So the company. Said that it would open a new office in London next year. They have, been working on it for a "
    "long time, and everybody is happy about it. The people who. Work there are going to move in the spring."
)
RIGHT = (
    "So the company said that it would open a new office in London next year. They have been working on it for a long "
    "time, and everybody is happy about it. The people who work there are going to move in the spring."
)
EDITED = (
    "Dr. Smith met J. R. Brown at 5 p.m. yesterday; he was late, of course. “Why?” she asked. He said: nothing. "
    "The U.S. team won, didn't it? Well, yes! Mr. Jones, who lives on St. James Street, has no. 7."
)


def rechecked(text: str, model: Model) -> str:
    return " ".join(restore([Word(word) for word in text.split()], model, Options(existing="recheck")))


@pytest.mark.parametrize(("text", "expected"), [(WRONG, RIGHT), (RIGHT, RIGHT), (EDITED, EDITED)])
def test_only_wrong_marks_go(text: str, expected: str, english: Model) -> None:
    assert rechecked(text, english) == expected


def test_each_change_is_listed_and_shown_by_a_diff(tmp_path: Path, english: Model) -> None:
    path = tmp_path / "talk.txt"
    path.write_text(f"{WRONG}\n", "utf-8")
    options = [str(path), "--existing", "recheck", "--model", english.config.name]
    run = CliRunner().invoke(app, ["fix", *options, "--diff"])
    assert run.exit_code == 0
    assert [line for line in run.stderr.splitlines() if "is now" in line] == [
        f"cappunc: {path}:1: “company. Said” is now “company said”",
        f"cappunc: {path}:1: “have, been” is now “have been”",
        f"cappunc: {path}:1: “who. Work” is now “who work”",
    ]
    assert f"-{WRONG}\n+{RIGHT}\n" in run.stdout
    assert path.read_text("utf-8") == f"{WRONG}\n"
