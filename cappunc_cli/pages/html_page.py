"""A self-contained HTML page: its content, the shared style, and a policy that lets it load nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class HtmlPage:
    """A page with the HTML `body`; `title` is plain text.

    `assets` names style sheets and scripts of this package beside style.css, in their order. `data` becomes JSON in an
    element with the id `data`. The Content-Security-Policy lets the page load nothing; `serves` is whether it may talk
    to the server that it came from.
    """

    title: str
    body: str
    assets: Sequence[str] = ()
    data: Any = None
    language: str = "en"
    serves: bool = False

    def html(self) -> str:
        """The whole page."""
        style = "".join(asset(name) for name in ("style.css", *self.assets) if name.endswith(".css"))
        script = "".join(asset(name) for name in self.assets if name.endswith(".js"))
        policy = "; ".join(
            (
                "default-src 'none'",
                f"style-src {_hash(style)}",
                f"script-src {_hash(script)}" if script else "script-src 'none'",
                "img-src data:",
                "media-src blob:",
                "connect-src 'self'" if self.serves else "connect-src 'none'",
                "base-uri 'none'",
                "form-action 'none'",
            )
        )
        return (
            f'<!doctype html>\n<html lang="{escape(self.language)}">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{escape(self.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{self.body}\n"
            f"{_data(self.data)}{f'<script>{script}</script>' if script else ''}\n</body>\n</html>\n"
        )

    def encoded(self) -> bytes:
        """The page in UTF-8; broken characters become question marks."""
        return self.html().encode("utf-8", "replace")


def asset(name: str) -> str:
    """The text of a file of this package."""
    return files(__package__).joinpath(name).read_text("utf-8")


def _data(data: Any) -> str:
    if data is None:
        return ""
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    # The data must not end the script element that it is in.
    written = written.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return f'<script type="application/json" id="data">{written}</script>\n'


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    return f"'sha256-{digest}'"
