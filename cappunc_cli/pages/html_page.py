"""A self-contained HTML page: its content, the shared style, and a policy that lets it load nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any


def html_page(title: str, body: str, assets: Sequence[str] = (), *, language: str = "en", serves: bool = False) -> str:
    """A page with the HTML `body`; `title` is plain text.

    `assets` names style sheets and scripts of this package beside style.css, in their order. The
    Content-Security-Policy lets the page load nothing; `serves` is whether it may talk to the server that it came from.
    """
    style = "".join(asset(name) for name in ("style.css", *assets) if name.endswith(".css"))
    script = "".join(asset(name) for name in assets if name.endswith(".js"))
    policy = "; ".join(
        (
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {_hash(script)}" if script else "script-src 'none'",
            "img-src data:",
            "media-src blob:",
            "connect-src 'self'" if serves else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n"
        f"{f'<script>{script}</script>' if script else ''}\n</body>\n</html>\n"
    )


def asset(name: str) -> str:
    """The text of a file of this package."""
    return files(__package__).joinpath(name).read_text("utf-8")


def data_element(data: Any) -> str:
    """An element with the id `data` that has the data as JSON, for the body of a page."""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # The data must not end the script element that it is in.
    written = written.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f'<script type="application/json" id="data">{written}</script>'


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return f"'sha256-{digest}'"
