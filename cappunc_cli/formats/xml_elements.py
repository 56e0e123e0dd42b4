"""Locate the elements of XML in its source, to edit it in place: it is never serialised.

No entity is expanded and no file is fetched: a DOCTYPE that declares entities or refers to other
files is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from cappunc_cli.document.words import Span
from cappunc_cli.errors import BadInput
from cappunc_cli.formats.markup import HIDDEN_ANYWHERE
from cappunc_cli.formats.splice import line_of

_COMMENT = r"(?><!--(?s:.*?)-->)"
_CDATA = r"(?><!\[CDATA\[(?s:.*?)\]\]>)"
_INSTRUCTION = r"(?><\?(?s:.*?)\?>)"
_DOCTYPE = r"<!DOCTYPE(?>(?:[^<>\[]|\[[^\]]*+\])*)>"
_TAG = r"<(?P<close>/?)(?P<name>[\w:][\w:.-]*+)(?P<attributes>(?>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*))>"
_TOKEN = re.compile(rf"{_COMMENT}|{_CDATA}|{_INSTRUCTION}|(?P<doctype>{_DOCTYPE})|{_TAG}")
_ATTRIBUTE = re.compile(r"(?:([\w.-]+):)?([\w.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_MARKUP = re.compile(r"<[A-Za-z_:/!?]")
_ENTITIES = re.compile(r"<!ENTITY", re.IGNORECASE)
_OUTSIDE = re.compile(r"<!ENTITY|\b(?:SYSTEM|PUBLIC)\b", re.IGNORECASE)
_DEEPEST = 200

# Titles, descriptions and metadata are not shown.
_ABOUT = r"<(?P<about>(?:[\w.-]+:)?(?:metadata|title|desc|copyright))\b[^<>]*(?<!/)>(?s:.)*?</(?P=about)\s*>"
#: What is not shown as text in an element. CDATA sections would need their own escaping and are left alone.
HIDDEN_IN_XML = re.compile(
    rf"{_ABOUT}|{_COMMENT}|{_CDATA}|{_INSTRUCTION}|{_TAG}|\{{\\[^{{}}\r\n]*\}}|{HIDDEN_ANYWHERE}"
)
#: A pattern for everything that can precede the first element of a file.
PROLOG = rf"(?>(?:(?:{_INSTRUCTION}|{_COMMENT}|{_DOCTYPE})\s*+)*)"


@dataclass(slots=True, eq=False)
class Element:
    """An element: its name and attributes as written, the offset of its tag, and the span of its content."""

    full_name: str
    written: str
    parent: Element | None
    start: int
    content: Span
    _attributes: dict[str, str] | None = field(default=None)

    @property
    def name(self) -> str:
        """The name without its namespace prefix."""
        return self.full_name.rpartition(":")[2]

    def get(self, name: str) -> str | None:
        """The value of an attribute, with any prefix or none; one without a prefix takes precedence."""
        if self._attributes is None:
            self._attributes = {}
            for prefix, local, double, single in _ATTRIBUTE.findall(self.written):
                if not prefix or local not in self._attributes:
                    self._attributes[local] = unescape(double or single)
        return self._attributes.get(name)

    def ancestors(self) -> Iterator[Element]:
        """The enclosing elements, innermost first."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent


def root(names: str) -> re.Pattern[str]:
    """A pattern for texts whose first element has one of the names (`a|b`), with any prefix."""
    return re.compile(rf"[\s\ufeff]*+{PROLOG}<(?:[\w.-]+:)?(?:{names})(?=[\s/>])")


def elements(source: str, *, dtd: bool = False) -> list[Element]:
    """All elements, in the order of their start tags.

    Raises BadInput where there are none, where tags are malformed, unbalanced or nested too deeply, and for a DOCTYPE
    that declares entities or refers to other files. With `dtd`, it may name one; that is not read.
    """
    result: list[Element] = []
    open_elements: list[Element] = []
    at = 0
    while markup := _MARKUP.search(source, at):
        token = _TOKEN.match(source, markup.start())
        if token is None:
            raise BadInput("a broken tag", line=line_of(source, markup.start()))
        at = token.end()
        if token["doctype"] and (_ENTITIES if dtd else _OUTSIDE).search(token["doctype"]):
            message = "its DOCTYPE declares entities or refers to other files: not followed, for safety"
            raise BadInput(message, line=line_of(source, token.start()))
        if token["name"] is None:
            continue
        if token["close"]:
            if not open_elements or open_elements[-1].full_name != token["name"]:
                problem = f"where <{open_elements[-1].full_name}> is open" if open_elements else "closes nothing"
                raise BadInput(f"</{token['name']}> {problem}", line=line_of(source, token.start()))
            closed = open_elements.pop()
            closed.content = (closed.content[0], token.start())
            continue
        parent = open_elements[-1] if open_elements else None
        element = Element(token["name"], token["attributes"], parent, token.start(), (at, at))
        result.append(element)
        if not token["attributes"].endswith("/"):
            open_elements.append(element)
            if len(open_elements) > _DEEPEST:
                raise BadInput(f"elements are nested more than {_DEEPEST} deep", line=line_of(source, at))
    if open_elements:
        unclosed = open_elements[-1]
        raise BadInput(f"<{unclosed.full_name}> is never closed", line=line_of(source, unclosed.start))
    if not result:
        raise BadInput("no XML element")
    return result
