"""Render the review as a self-contained HTML page, with its data, style and script."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files

from cappunc_cli.files.inspection import Report

_NAMES = ("review.html", "review.css", "splice.js", "review.js")


def page_bytes(found: Report, served: str = "") -> bytes:
    """The HTML page for `page_data`; `served` is the address of the review server, "" for a page without server.

    Its Content-Security-Policy lets it load nothing, and without server connect to nobody. It is in UTF-8; broken
    characters of the file become question marks.
    """
    package = files(__package__)
    template, style, *scripts = (package.joinpath(name).read_text("utf-8") for name in _NAMES)
    script = "".join(scripts)
    # The data must not end the script element that it is in.
    data = json.dumps({**found, "served": served}, ensure_ascii=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {_hash(script)}",
            "media-src blob:",
            "connect-src 'self'" if served else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    parts = {
        "policy": escape(policy),
        "name": escape(found["name"]),
        "language": escape(found["language"] or "und"),
        "style": style,
        "data": data,
        "script": script,
    }
    pieces = template.split("{{")
    page = pieces[0] + "".join(parts[key] + rest for key, _, rest in (p.partition("}}") for p in pieces[1:]))
    return page.encode("utf-8", "replace")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return f"'sha256-{digest}'"
