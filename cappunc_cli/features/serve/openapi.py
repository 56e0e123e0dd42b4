"""The OpenAPI document of the server, made from its paths and the descriptions of options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cappunc_cli.options import Option
from cappunc_cli.version import __version__

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", tuple: "string"}
#: What refuses a request, by status; all in one line of JSON.
STATUSES = {
    400: "The request or an option is wrong (exit code 2 of the command).",
    401: "The token is missing or wrong.",
    403: "The host or the origin is not allowed.",
    408: "The request came too slowly.",
    413: "The body is too large.",
    422: "The file cannot be read or restored without loss (exit code 1).",
    429: "Too many requests wait for the model; Retry-After tells when to ask again.",
    503: "Too many connections or bodies, a request that takes too long, or the server is being stopped.",
}
#: The paths that take the options of `fix`, and their bodies.
_BODIES = {
    "/v1/fix": ("application/octet-stream", "multipart/form-data"),
    "/v1/check": ("application/octet-stream", "multipart/form-data"),
    "/v1/words": ("application/json",),
    "/v2/check": ("application/x-www-form-urlencoded",),
}


def schema(option: Option) -> dict[str, Any]:
    """An option's values as JSON Schema."""
    limits = {"enum": list(option.choices), "minimum": option.least, "maximum": option.most}
    found = {"type": _TYPES[option.kind], **{key: value for key, value in limits.items() if value not in (None, [])}}
    return found | ({"default": option.default} if isinstance(option.default, bool | int | float | str) else {})


def document(
    paths: Sequence[tuple[str, str, str]], of_fix: Mapping[str, Option], of_stream: Mapping[str, Option]
) -> dict[str, Any]:
    """The document for paths, each with its method and what it does."""
    found = {path: {method.lower(): _operation(path, about, of_fix)} for path, method, about in paths}
    found["/v1/stream"] = {
        "get": {
            "summary": "A WebSocket with a stream of live words, as cappunc stream reads and writes them.",
            "parameters": list(_parameters(of_stream)),
            "responses": {"101": {"description": "The stream begins."}},
        }
    }
    return {"openapi": "3.1.0", "info": {"title": "cappunc", "version": __version__}, "paths": found}


def _operation(path: str, about: str, of_fix: Mapping[str, Option]) -> dict[str, Any]:
    """What a path takes and answers."""
    refusals = {str(status): {"description": text} for status, text in STATUSES.items()}
    found: dict[str, Any] = {"summary": about, "responses": {"200": {"description": "Done."}, **refusals}}
    if path in _BODIES:
        found["requestBody"] = {"required": True, "content": {kind: {} for kind in _BODIES[path]}}
    if path.startswith("/v1/") and path in _BODIES:
        found["parameters"] = list(_parameters(of_fix))
        found["parameters"].append({"name": "name", "in": "query", "schema": {"type": "string"}})
    if path == "/v1/fix":
        found["parameters"].append({"name": "report", "in": "query", "schema": {"type": "string", "enum": ["json"]}})
    return found


def _parameters(options: Mapping[str, Option]) -> Iterable[dict[str, Any]]:
    for name, one in options.items():
        yield {"name": name, "in": "query", "description": one.help, "schema": schema(one)}
