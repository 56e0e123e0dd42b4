"""XML by its tags: where elements begin and end in a source that is never written anew.

Nothing is expanded and nothing is fetched: whoever declares entities or points to other
files in a DOCTYPE is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from cappunc_cli.errors import BadInput
from cappunc_cli.formats.source.spans import line_of
from cappunc_cli.formats.source.visible import HIDDEN_ANYWHERE
from cappunc_cli.transcript.words import Span

_COMMENT = r"(?><!--(?s:.*?)-->)"
_CDATA = r"(?><!\[CDATA\[(?s:.*?)\]\]>)"
_INSTRUCTION = r"(?><\?(?s:.*?)\?>)"
_DOCTYPE = r"<!DOCTYPE(?>(?:[^<>\[]|\[[^\]]*+\])*)>"
_TAG = r"<(?P<close>/?)(?P<name>[\w:][\w:.-]*+)(?P<attributes>(?>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*))>"
_TOKEN = re.compile(rf"{_COMMENT}|{_CDATA}|{_INSTRUCTION}|(?P<doctype>{_DOCTYPE})|{_TAG}")
_ATTRIBUTE = re.compile(r"(?:([\w.-]+):)?([\w.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_MARKUP = re.compile(r"<[A-Za-z_:/!?]")
_OUTSIDE = re.compile(r"<!ENTITY|\b(?:SYSTEM|PUBLIC)\b", re.IGNORECASE)
_DEEPEST = 200

# What a title or a description says is about the text, and no part of it.
_ABOUT = r"<(?P<about>(?:[\w.-]+:)?(?:metadata|title|desc|copyright))\b[^<>]*(?<!/)>(?s:.)*?</(?P=about)\s*>"
#: What nobody sees inside an element. A CDATA section would need another escaping and is left alone.
HIDDEN_IN_XML = re.compile(
    rf"{_ABOUT}|{_COMMENT}|{_CDATA}|{_INSTRUCTION}|{_TAG}|\{{\\[^{{}}\r\n]*\}}|{HIDDEN_ANYWHERE}"
)
#: All that may stand before the first element of a file, as a pattern.
PROLOG = rf"(?>(?:(?:{_INSTRUCTION}|{_COMMENT}|{_DOCTYPE})\s*+)*)"


@dataclass(slots=True, eq=False)
class Element:
    """An element: its name as written, its attributes as written, where its content stands."""

    full_name: str
    written: str
    parent: Element | None
    start: int
    content: Span
    _attributes: dict[str, str] | None = field(default=None)

    @property
    def name(self) -> str:
        """The name without its prefix."""
        return self.full_name.rpartition(":")[2]

    def get(self, name: str) -> str | None:
        """The value of an attribute, whatever its prefix; one without a prefix goes first."""
        if self._attributes is None:
            self._attributes = {}
            for prefix, local, double, single in _ATTRIBUTE.findall(self.written):
                if not prefix or local not in self._attributes:
                    self._attributes[local] = unescape(double or single)
        return self._attributes.get(name)

    def ancestors(self) -> Iterator[Element]:
        """The elements around this one, the nearest first."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent


def root(names: str) -> re.Pattern[str]:
    """A pattern that matches a text whose first element has one of the names (`a|b`), with any prefix."""
    return re.compile(rf"[\s\ufeff]*+{PROLOG}<(?:[\w.-]+:)?(?:{names})(?=[\s/>])")


def elements(source: str) -> list[Element]:
    """All elements in the order in which they begin.

    Raises BadInput where there is none, where tags are broken, do not match or nest too deeply, and for DOCTYPEs
    with entities or other files in them.
    """
    result: list[Element] = []
    around: list[Element] = []
    at = 0
    while markup := _MARKUP.search(source, at):
        token = _TOKEN.match(source, markup.start())
        if token is None:
            raise BadInput("a broken tag", line=line_of(source, markup.start()))
        at = token.end()
        if token["doctype"] and _OUTSIDE.search(token["doctype"]):
            message = "its DOCTYPE declares entities or refers to other files: not followed, for safety"
            raise BadInput(message, line=line_of(source, token.start()))
        if token["name"] is None:
            continue
        if token["close"]:
            if not around or around[-1].full_name != token["name"]:
                open_now = f"where <{around[-1].full_name}> is open" if around else "closes nothing"
                raise BadInput(f"</{token['name']}> {open_now}", line=line_of(source, token.start()))
            closed = around.pop()
            closed.content = (closed.content[0], token.start())
            continue
        opened = Element(token["name"], token["attributes"], around[-1] if around else None, token.start(), (at, at))
        result.append(opened)
        if not token["attributes"].endswith("/"):
            around.append(opened)
            if len(around) > _DEEPEST:
                raise BadInput(f"more than {_DEEPEST} elements inside one another", line=line_of(source, at))
    if around:
        raise BadInput(f"<{around[-1].full_name}> is never closed", line=line_of(source, around[-1].start))
    if not result:
        raise BadInput("no XML element")
    return result
