"""What `cappunc check` found, as other programs read it: annotations of GitHub, JUnit's XML and SARIF."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from cappunc_cli.layout.xml_files import checked_xml
from cappunc_cli.version import __version__

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to say of a file: the kind of fault, `error` or `warning`, and the line if it is known."""

    file: str
    kind: str
    level: str
    message: str
    line: int | None = None


def rendered(findings: Sequence[Finding], files: Sequence[str], kind: str) -> str:
    """The findings in `files`, those without any among them, in one of the formats but text and JSON."""
    return {"github": _github, "junit": _junit, "sarif": _sarif}[kind](findings, files)


def _github(findings: Sequence[Finding], _: Sequence[str]) -> str:
    def escaped(text: str, also: str = "") -> str:
        for character in f"%\r\n{also}":
            text = text.replace(character, f"%{ord(character):02X}")
        return text

    return "".join(
        f"::{one.level} file={escaped(one.file, ':,')}{f',line={one.line}' if one.line else ''},"
        f"title={escaped(one.kind, ':,')}::{escaped(one.message)}\n"
        for one in findings
    )


def _junit(findings: Sequence[Finding], files: Sequence[str]) -> str:
    unread = {one.file for one in findings if one.kind == "unreadable"}
    failed = {one.file for one in findings} - unread
    counts = {"tests": str(len(files)), "failures": str(len(failed)), "errors": str(len(unread))}
    suite = Element("testsuite", {"name": "cappunc check", **counts})
    for file in files:
        case = SubElement(suite, "testcase", {"classname": "cappunc", "name": file})
        own = [one for one in findings if one.file == file]
        if own:
            found = SubElement(case, "error" if file in unread else "failure", {"message": own[0].message})
            found.text = "\n".join(one.message for one in own)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{checked_xml(tostring(suite, "unicode"))}\n'


def _sarif(findings: Sequence[Finding], _: Sequence[str]) -> str:
    rules = [{"id": kind} for kind in dict.fromkeys(one.kind for one in findings)]
    results = []
    for one in findings:
        place: dict[str, object] = {"artifactLocation": {"uri": one.file.replace("\\", "/")}}
        place |= {"region": {"startLine": one.line}} if one.line else {}
        said = {"ruleId": one.kind, "level": one.level, "message": {"text": one.message}}
        results.append({**said, "locations": [{"physicalLocation": place}]})
    tool = {"driver": {"name": "cappunc", "version": __version__, "rules": rules}}
    run = {"tool": tool, "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"
