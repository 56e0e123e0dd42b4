"""The page of live captions, for a hall's screen and for OBS."""

from __future__ import annotations

from cappunc_cli.pages.html_page import data_element, html_page

_BODY = '<p id="captions" role="log" aria-live="polite"><span></span></p>\n<p id="state" hidden>not connected</p>\n'


def live_page(source: str) -> bytes:
    """The page in UTF-8. It shows the texts that the WebSocket at `source`, a path of its server, sends.

    Its address may ask for `size` (in per cent of the height), `lines`, `color`, `background` and another `source`;
    with `quiet` it does not say when the connection is lost.
    """
    body = _BODY + data_element({"source": source})
    return html_page("Live captions", body, ("live.css", "live.js"), serves=True).encode()
