"""The review as one page that needs nothing else: what it shows, its style and its script are all in it."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from importlib.resources import files

from cappunc_cli.application.inspection import Report

_NAMES = ("review.html", "review.css", "splice.js", "review.js")


def render_page(found: Report, served: str = "") -> str:
    """The page of `page_data`; `served` is the address to which decisions are sent, "" where the page is alone.

    Its policy lets it load nothing and, alone, reach nobody.
    """
    room = files(__package__)
    shell, style, *scripts = (room.joinpath(name).read_text("utf-8") for name in _NAMES)
    script = "".join(scripts)
    # Nothing in it may end the element that it stands in.
    data = json.dumps({**found, "served": served}, ensure_ascii=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {_hash(script)}",
            "media-src blob:",
            f"connect-src {chr(39)}self{chr(39)}" if served else "connect-src 'none'",
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
    pieces = shell.split("{{")
    return pieces[0] + "".join(parts[key] + rest for key, _, rest in (p.partition("}}") for p in pieces[1:]))


def page_bytes(found: Report, served: str = "") -> bytes:
    """The page in UTF-8; half a character of a broken file is shown as such."""
    return render_page(found, served).encode("utf-8", "replace")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return f"'sha256-{digest}'"
