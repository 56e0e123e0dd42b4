"""The app of `cappunc serve`: what each path answers."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from cappunc_cli.errors import BadInput, CappuncError, WrongUsage
from cappunc_cli.features.serve.language_tool import check_text, parse_text, variants
from cappunc_cli.features.serve.openapi import document
from cappunc_cli.features.serve.options import ServeOptions
from cappunc_cli.features.serve.work import Watch, Work
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.fixer import Fixed, Fixer, FixRequest, Opened, open_model
from cappunc_cli.files.inspection import missing_entries, positions
from cappunc_cli.formats.recogniser_words import RecogniserWords
from cappunc_cli.options import made
from cappunc_cli.restoration.models.model import Model
from cappunc_cli.restoration.models.registry import ENGINES, ModelConfig, installed
from cappunc_cli.restoration.terms import Glossary, parse_glossary
from cappunc_cli.serving.fixing import fix_opened, open_bytes, options_asked, request_asked, values_asked
from cappunc_cli.serving.gate import Gate, answer, app_errors
from cappunc_cli.serving.live_options import LiveOptions
from cappunc_cli.serving.live_socket import LiveSocket
from cappunc_cli.serving.live_streams import LiveStreams, open_live_model
from cappunc_cli.version import __version__

#: Models that stay open.
_MODELS = 12
#: Query parameters that are no options of `fix`.
_OWN = ("name", "report")


class Service:
    """All that the paths share: the options, the models, what waits for them, and counts."""

    def __init__(self, options: ServeOptions, token: str, draining: asyncio.Event) -> None:
        self.options, self.draining = options, draining
        self.work = Work(options.queue)
        #: Requests by path, and words and seconds of work.
        self.requests: Counter[str] = Counter()
        self.words, self.seconds = 0, 0.0
        self._open = lru_cache(_MODELS)(open_model.__wrapped__)
        # Live words are restored in the event loop, so their models are not shared with the thread.
        self._live = lru_cache(_MODELS)(open_live_model)
        routes = [
            Route(path, self._counted(path, handler), methods=[method]) for path, method, handler in self._paths()
        ]
        app = Starlette(routes=[*routes, WebSocketRoute("/v1/stream", self.stream)], exception_handlers=app_errors())
        self.gate = Gate(
            app,
            options.allow_host,
            options.allow_origin,
            token,
            public=("/v1/health", "/v2/check", "/v2/languages"),
            most_bytes=options.max_mb << 20,
            seconds=options.timeout,
            is_draining=draining.is_set,
        )

    def gated(self) -> ASGIApp:
        """The app behind its gate; pages that may ask may also read the answers."""
        if not self.options.allow_origin:
            return self.gate
        heard = ("Authorization", "Content-Type")
        return CORSMiddleware(self.gate, self.options.allow_origin, ("GET", "POST"), heard)

    def _paths(self) -> list[tuple[str, str, Callable[[Request], Any]]]:
        return [
            ("/v1/fix", "POST", self.fix),
            ("/v1/words", "POST", self.restore_words),
            ("/v1/check", "POST", self.check),
            ("/v1/models", "GET", self.models),
            ("/v1/health", "GET", self.health),
            ("/v1/openapi.json", "GET", self.openapi),
            ("/metrics", "GET", self.metrics),
            ("/v2/check", "POST", self.language_tool),
            ("/v2/languages", "GET", self.languages),
        ]

    def _counted(self, path: str, handler: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def counted(request: Request) -> Response:
            self.requests[path] += 1
            response: Response = await handler(request)
            response.headers["X-Content-Type-Options"] = "nosniff"
            return response

        return counted

    def fixer(self, request: FixRequest, watch: Watch, notes: list[str]) -> Fixer:
        """What opens and restores a text, with the models of the server."""
        return Fixer(request, notes.append, watch, opener=self._open)

    async def _work(self, request: Request, function: Callable[[Watch], Any]) -> Any:
        started = time.perf_counter()
        try:
            return await self.work.run(request, function)
        finally:
            self.seconds += time.perf_counter() - started

    async def _file(self, request: Request) -> tuple[bytes, str, Glossary | None]:
        """The file of a request, its name and the terms of its glossary. Raises CappuncError."""
        name = request.query_params.get("name", "")
        if not request.headers.get("content-type", "").startswith("multipart/form-data"):
            return await request.body(), _plain_name(name), None
        glossary: Glossary | None = None
        file: tuple[bytes, str] | None = None
        async with request.form(max_files=2, max_fields=2, max_part_size=self.options.max_mb << 20) as form:
            for key, part in form.multi_items():
                data = part.encode() if isinstance(part, str) else await part.read()
                if key == "file" and file is None:
                    file = data, name or ("" if isinstance(part, str) else part.filename or "")
                elif key == "glossary" and glossary is None:
                    glossary = Glossary.of(parse_glossary(decode(data)[0], "glossary"))
                else:
                    raise WrongUsage("a form has one part called file, and at most one called glossary")
        if file is None:
            raise WrongUsage("a form has one part called file")
        return file[0], _plain_name(file[1]), glossary

    def _asked(self, request: Request, glossary: Glossary | None = None) -> FixRequest:
        given = [one for one in request.query_params.multi_items() if one[0] not in _OWN]
        return request_asked(given, self.options.device, glossary)

    async def fix(self, request: Request) -> Response:
        """The same file, restored; with `report=json` what changed, by word."""
        data, name, glossary = await self._file(request)
        asked, notes, report = self._asked(request, glossary), list[str](), request.query_params.get("report")
        if report not in (None, "json"):
            raise WrongUsage("report must be json")

        def work(watch: Watch) -> tuple[Opened, list[str], Fixed]:
            asked.check()
            opened = open_bytes(data, name, self.fixer(asked, watch, notes))
            return opened, *fix_opened(opened)

        opened, new, fixed = await self._work(request, work)
        self.words += fixed.words
        counts = {"words": fixed.words, "marks": fixed.marks, "capitals": fixed.capitals}
        notes += [opened.note] if opened.note else []
        notes += [f"{name or 'line'}:{one.line}: {one.message}" for one in fixed.notices]
        if report is not None:
            known = {"format": opened.document.format, "language": opened.code, **counts, "notes": notes}
            return _json({**known, "changes": _changes(opened, new)})
        headers = {f"Cappunc-{key}".title(): str(value) for key, value in counts.items()}
        if notes:
            headers["Cappunc-Notes"] = json.dumps(notes[:20])  # in ASCII
        return Response(fixed.data, headers=headers, media_type="application/octet-stream")

    async def check(self, request: Request) -> Response:
        """What `check --json` says of a file."""
        data, name, _ = await self._file(request)
        asked = self._asked(request)

        def work(watch: Watch) -> dict[str, Any]:
            asked.check()
            opened = open_bytes(data, name, self.fixer(asked, watch, []))
            words = opened.document.words
            return {"file": name, "format": opened.document.format, "words": len(words), **missing_entries(opened)}

        return _json(await self._work(request, work))

    async def restore_words(self, request: Request) -> Response:
        """The words of a recogniser with new texts; all else of them stays."""
        asked, found = self._asked(request), _parsed(await request.body())
        items = found.get("words") if isinstance(found, dict) else found
        if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
            raise WrongUsage("send a list of words, or an object with one: words")

        def work(watch: Watch) -> list[str]:
            asked.check()
            try:
                given = RecogniserWords(items)
            except (ValueError, OverflowError) as error:  # a time that is no number
                raise WrongUsage(str(error)) from error
            source = " ".join(given.document.texts)
            return given.written(self.fixer(asked, watch, []).open(replace(given.document, source=source)).restore())

        texts = await self._work(request, work)
        self.words += len(texts)
        new = [
            one | {"word" if one.get("word") is not None else "text": text}
            for one, text in zip(items, texts, strict=True)
        ]
        return _json(found | {"words": new} if isinstance(found, dict) else new)

    async def models(self, _: Request) -> Response:
        """The installed models."""
        configs = [
            (engine, path.name, ModelConfig.load(path, engine)) for engine in ENGINES for path in installed(engine)
        ]
        return _json(
            [
                {"name": name, "engine": engine, "languages": one.languages, "fast": one.fast, "licence": one.licence}
                for engine, name, one in configs
            ]
        )

    async def health(self, _: Request) -> Response:
        """Whether it takes requests."""
        status = "draining" if self.draining.is_set() else "ok"
        return _json({"status": status, "version": __version__}, 200 if status == "ok" else 503)

    async def openapi(self, _: Request) -> Response:
        """The description of all this, for programs."""
        paths = [(path, method, handler.__doc__ or "") for path, method, handler in self._paths()]
        return _json(document(paths, options_asked(), options_asked(LiveOptions)))

    async def metrics(self, _: Request) -> Response:
        """Counts, as Prometheus reads them."""
        statuses = self.gate.statuses
        rows: list[str] = []
        for name, kind, values in (
            ("requests_total", "counter", {f'{{path="{path}"}}': n for path, n in sorted(self.requests.items())}),
            ("answers_total", "counter", {f'{{status="{code}"}}': n for code, n in sorted(statuses.items())}),
            ("refusals_total", "counter", {"": sum(n for code, n in statuses.items() if code >= 400)}),
            ("words_total", "counter", {"": self.words}),
            ("work_seconds_total", "counter", {"": round(self.seconds, 3)}),
            ("waiting", "gauge", {"": self.work.waiting}),
        ):
            rows.append(f"# TYPE cappunc_{name} {kind}")
            rows += [f"cappunc_{name}{labels} {value}" for labels, value in values.items()]
        return PlainTextResponse("\n".join([*rows, ""]), media_type="text/plain; version=0.0.4")

    async def language_tool(self, request: Request) -> Response:
        """LanguageTool's check: each missing or doubtful mark and capital of a text is a match."""
        async with request.form(max_files=0, max_fields=50, max_part_size=self.options.max_mb << 20) as form:
            given = {key: str(value) for key, value in form.multi_items()}
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.gate.admit(bearer or given.get("apiKey", ""))
        text = parse_text(given)
        asked = request_asked([("lang", given.get("language") or "auto"), ("format", "txt")], self.options.device)

        def work(watch: Watch) -> dict[str, Any]:
            asked.check()
            return check_text(text, self.fixer(asked, watch, []), given)

        return _json(await self._work(request, work))

    async def languages(self, _: Request) -> Response:
        """The languages that have a model, as LanguageTool lists them."""
        return _json(variants())

    async def stream(self, connection: WebSocket) -> None:
        """A stream of live words, with the options of `stream`."""
        try:
            given = values_asked(connection.query_params.multi_items(), options_asked(LiveOptions))
            options = made(LiveOptions, given | {"device": self.options.device})
            model: Model = await asyncio.to_thread(self._live, _of_model(options))
            streams = LiveStreams(options, model)
        except CappuncError as error:
            await connection.send_denial_response(answer(error))
            return
        await LiveSocket(connection, streams.new, self.draining).run()


def _json(content: Any, status: int = 200) -> Response:
    """JSON in UTF-8; half a character stays an escape."""
    return Response(
        json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace"), status, None, "application/json"
    )


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {str(error).lower()}") from error


def _plain_name(name: str) -> str:
    """The name of a file without its folders: they are on the client's machine."""
    return PurePath(name.replace("\\", "/")).name


def _of_model(options: LiveOptions) -> LiveOptions:
    """What determines the model of live words."""
    return LiveOptions(lang=options.lang, model=options.model, engine=options.engine, device=options.device)


def _changes(opened: Opened, new: Sequence[str]) -> list[dict[str, Any]]:
    """The words that have changed, counted from 1, with their places."""
    old = opened.document.texts
    numbers = [i for i, (before, after) in enumerate(zip(old, new, strict=True)) if before != after]
    places = positions(opened.document, [(i, i + 1) for i in numbers])
    return [{**place, "word": i + 1, "was": old[i], "text": new[i]} for i, place in zip(numbers, places, strict=True)]
