"""What check found, as other programs read it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from commands import MODEL, cappunc, talk


def test_formats_of_other_programs(tmp_path: Path) -> None:
    talk(tmp_path, "a,b.txt", "hello anna then we went to london and where is the cat\n" * 5)
    talk(tmp_path, "good.txt", "Hello.\n")
    (tmp_path / "bad.json").write_text("{")

    def shown(kind: str) -> str:
        run = cappunc("check", *MODEL, "--output-format", kind, "a,b.txt", "good.txt", "bad.json", cwd=tmp_path)
        assert run.returncode == 1
        return run.stdout.decode()

    github = shown("github").splitlines()
    assert github[0].startswith("::warning file=a%2Cb.txt,line=1,title=missing::a,b.txt:1-5: ")
    assert github[-1].startswith("::error file=bad.json,")
    suite = ElementTree.fromstring(shown("junit"))
    assert suite.attrib == {"name": "cappunc check", "tests": "3", "failures": "1", "errors": "1"}
    assert [[child.tag for child in case] for case in suite] == [["failure"], [], ["error"]]
    (run,) = json.loads(shown("sarif"))["runs"]
    assert {result["level"] for result in run["results"]} == {"warning", "error"}
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {"missing", "unreadable"}
    entries = json.loads(shown("json"))
    assert [entry["file"] for entry in entries] == ["a,b.txt", "good.txt", "bad.json"]
    assert entries[-1]["error"]
