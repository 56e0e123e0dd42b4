"""`cappunc serve`: the same bytes as the command line, and refusals of one line for everything else."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from commands import MODEL, SRT, TINY, cappunc, line, process

pytest.importorskip("starlette")

from websockets.asyncio.client import connect

import cappunc_cli
from cappunc_cli.features.serve.app import Service
from cappunc_cli.features.serve.options import ServeOptions
from cappunc_cli.options import described, load_reference, made
from cappunc_cli.serving.server import Server

#: Seconds after which something is given up that happens at once unless the machine is busy.
LONG = 120
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """English is restored by the model of a few KB."""
    place = tmp_path_factory.mktemp("models")
    for name in ("en", "en-fast"):
        shutil.copytree(TINY, place / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPPUNC_MODELS", str(place))
        yield


@contextmanager
def serving(token: str = "", **options: Any) -> Iterator[tuple[Server, Service]]:
    server = Server("127.0.0.1", 0)
    service = Service(made(ServeOptions, {"device": "cpu", **options}), token, server.draining)
    thread = threading.Thread(target=server.run, args=(service.gated(),))
    thread.start()
    try:
        yield server, service
    finally:
        server.stop()
        thread.join(LONG)
        server.close()
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def service() -> Iterator[Server]:
    with serving() as (server, _):
        yield server


def ask(
    server: Server, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}, method: str = ""
) -> tuple[int, bytes, Mapping[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LONG)
    connection.request(method or ("GET" if body is None else "POST"), path, body, dict(headers))
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.headers
    connection.close()
    return found


def refused(found: tuple[int, bytes, Mapping[str, Any]]) -> tuple[int, str, str]:
    """The status, code and message of a refusal, which is one line of JSON."""
    status, body, _ = found
    assert body.count(b"\n") == 1
    entry = json.loads(body)
    assert set(entry) == {"file", "line", "code", "message"}
    return status, entry["code"], entry["message"]


def form(**parts: bytes) -> tuple[bytes, dict[str, str]]:
    """A multipart form, as browsers and curl send it."""
    body = b"".join(
        b'--xyz\r\nContent-Disposition: form-data; name="%s"; filename="talk.srt"\r\n\r\n%s\r\n' % (key.encode(), data)
        for key, data in parts.items()
    )
    return body + b"--xyz--\r\n", {"Content-Type": "multipart/form-data; boundary=xyz"}


# --- the same as the command line


@pytest.mark.parametrize(
    "options", ["", "marks=.", "existing=replace&sensitivity=0.9", "no-pauses", "fast", "fast=true"]
)
def test_a_file_comes_back_as_fix_writes_it(service: Server, options: str) -> None:
    flags = [f"--{one}".replace("fast=true", "fast") for one in options.split("&") if one]
    expected = cappunc("fix", *flags, data=SRT.encode()).stdout
    assert expected != SRT.encode()
    status, body, headers = ask(service, f"/v1/fix?name=talk.srt&{options}", SRT.encode())
    assert (status, body) == (200, expected)
    assert headers["Cappunc-Words"] == "11"
    assert ask(service, f"/v1/fix?{options}", *form(file=SRT.encode()))[1] == expected


FILES = [path for path in sorted((ROOT / "fixtures").rglob("*.*")) if path.is_file() and ".fixed" not in path.name]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_format_has_the_bytes_of_fix(service: Server, path: Path) -> None:
    run = cappunc("fix", "--lang", "en", path, "-o", "-")
    status, body, _ = ask(service, f"/v1/fix?lang=en&name={quote(path.name)}", path.read_bytes())
    if run.returncode:
        assert refused((status, body, {}))[2] in run.stderr.decode()
    else:
        assert (status, body) == (200, run.stdout)


def test_a_glossary_of_the_form_counts(service: Server) -> None:
    found = ask(service, "/v1/fix", *form(file=SRT.encode(), glossary=b"LonDON\n"))
    assert b"LonDON" in found[1]
    assert refused(ask(service, "/v1/fix", *form(file=SRT.encode(), other=b"x")))[:2] == (400, "wrong-usage")
    assert refused(ask(service, "/v1/fix", *form(glossary=b"x")))[:2] == (400, "wrong-usage")


def test_a_report_tells_each_changed_word(service: Server) -> None:
    found = json.loads(ask(service, "/v1/fix?report=json", SRT.encode())[1])
    fixed = cappunc_cli.fix(SRT.encode(), str(TINY), device="cpu")
    words = cappunc_cli.read(SRT).texts
    for change in found["changes"]:
        assert words[change["word"] - 1] == change["was"]
        words[change["word"] - 1] = change["text"]
    assert words == cappunc_cli.read(fixed.text).texts
    assert (found["marks"], found["capitals"], found["format"]) == (fixed.marks, fixed.capitals, "srt")


def test_words_come_back_with_all_that_they_had(service: Server) -> None:
    words = [
        {"word": f" {word}", "start": i / 2, "end": i / 2 + 0.4, "p": [i]}
        for i, word in enumerate(["so", "hi", "anna"])
    ]
    expected = cappunc_cli.restore_words(words, str(TINY), language="en", device="cpu")
    for sent, items in ((words, lambda found: found), ({"id": 7, "words": words}, lambda found: found["words"])):
        found = json.loads(ask(service, "/v1/words?lang=en", json.dumps(sent).encode())[1])
        assert [one.pop("word") for one in items(found)] == expected
        assert items(found) == [{key: value for key, value in one.items() if key != "word"} for one in words]
    for bad in (
        b"",
        b"{",
        b"[1]",
        b'{"words": 1}',
        b"[" * 100_000,
        b'[{"word": "a", "start": 1e999}]',
        b'[{"start": 1}]',
    ):
        assert refused(ask(service, "/v1/words", bad))[0] in (400, 422)


def test_check_says_what_the_command_says(service: Server, tmp_path: Path) -> None:
    (tmp_path / "talk.srt").write_text(SRT)
    [expected] = json.loads(cappunc("check", "--lang", "en", "--json", "talk.srt", cwd=tmp_path).stdout)
    assert json.loads(ask(service, "/v1/check?lang=en&name=talk.srt", SRT.encode())[1]) == expected


def test_a_live_stream_is_that_of_the_pipe(service: Server) -> None:
    words = "hello anna then we went to london where is the cat"

    async def talk() -> str:
        address = f"ws://127.0.0.1:{service.port}/v1/stream?look-ahead=3&lang=en"
        async with connect(address, proxy=None) as connection:
            await connection.send(words)
            await connection.send("")
            return "".join([str(part) async for part in connection])

    expected = process("stream", "--look-ahead", "3", "--model", TINY, data=words.encode()).stdout.decode()
    assert asyncio.run(talk()) == expected


# --- what is refused


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("colour=red", "unknown option: colour"), ("sensitivity=2", "sensitivity must be a number from 0 to 1"),
        ("fast=maybe", "fast must be true or false"), ("lang=is", "no model for is "),
        ("marks=x", "marks may have only"),
        ("format=docx", "format 'docx' is no format"), ("report=xml", "report must"),
        ("lang=en&lang=es", "lang is given twice"), ("model=en&fast", "fast and model exclude each other"),
        # Nothing names a file of the server's machine.
        ("glossary=/etc/passwd", "unknown option: glossary"), ("model=/etc", "no model '/etc'"),
        ("model=../tests/tiny_model", "no model '../tests/tiny_model'"), ("files-from=x", "unknown option"),
        ("device=cuda", "unknown option: device"),
    ],
)  # fmt: skip
def test_wrong_options_are_refused_as_on_the_command_line(service: Server, query: str, message: str) -> None:
    status, _, said = refused(ask(service, f"/v1/fix?{query}", SRT.encode()))
    assert status in (400, 422)
    assert said.startswith(message)


def test_a_file_that_fix_refuses_is_refused_with_its_place(service: Server) -> None:
    broken = b'{"text": "good evening", "words": ['
    run = cappunc("fix", "--format", "vosk", data=broken)
    status, body, _ = ask(service, "/v1/fix?format=vosk&name=../x/talk.json", broken)
    entry = json.loads(body)
    assert (status, entry["file"], entry["code"]) == (422, "talk.json", "bad-input")
    assert run.stderr.decode() == f"cappunc: <stdin>:{entry['line']}: {entry['message']}\n"


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [("/", "GET", 404), ("/v1/fix", "GET", 405), ("/v1/../etc/passwd", "GET", 404), ("/v1/fix", "TRACE", 405)],
)
def test_other_paths_and_methods(service: Server, path: str, method: str, status: int) -> None:
    assert refused(ask(service, path, method=method))[0] == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403), ({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403),
        ({"Host": "localhost"}, 200), ({"Host": ""}, 403), ({"Host": "[::1]:80"}, 200),
    ],
)  # fmt: skip
def test_foreign_pages_and_names_are_refused(service: Server, headers: dict[str, str], status: int) -> None:
    assert ask(service, "/v1/health", headers=headers)[0] == status


def test_a_page_that_is_allowed_may_read_the_answers() -> None:
    with serving(allow_origin=("https://good.example",), allow_host=("cap.example",)) as (server, _):
        good = {"Origin": "https://good.example", "Host": "cap.example"}
        assert ask(server, "/v1/health", headers=good)[2]["access-control-allow-origin"] == "https://good.example"
        assert ask(server, "/v1/health", headers={"Origin": "https://evil.example"})[0] == 403


def test_a_token_is_asked_for() -> None:
    token = "0123456789abcdef"
    with serving(token) as (server, _):
        assert ask(server, "/v1/health")[0] == 200
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"Basic {token}"}):
            assert refused(ask(server, "/metrics", headers=headers))[0] == 401
            assert refused(ask(server, "/v1/fix", SRT.encode(), headers))[0] == 401
        assert ask(server, "/metrics", headers={"Authorization": f"Bearer {token}"})[0] == 200
        text = {"text": "hello anna", "language": "en"}
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert ask(server, "/v2/check", urlencode(text).encode(), kind)[0] == 401
        assert ask(server, "/v2/check", urlencode({**text, "apiKey": token}).encode(), kind)[0] == 200


def test_large_bodies_are_refused() -> None:
    with serving(max_mb=1) as (server, _):
        assert refused(ask(server, "/v1/fix", b"x" * (1 << 20 | 1)))[0] == 413
        chunks = [b"x" * 300_000] * 4
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LONG)
        connection.request("POST", "/v1/fix", iter(chunks), {"Transfer-Encoding": "chunked"}, encode_chunked=True)
        assert connection.getresponse().status == 413
        connection.close()


def test_who_waits_too_long_or_goes_away_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """One request works, one waits, the third is refused; those that break off make room."""
    started, go_on = threading.Event(), threading.Event()

    def slow(self: Any) -> list[str]:
        started.set()
        while not go_on.wait(0.01):
            self.fixer.reporter.advance(0)
        return self.document.texts

    monkeypatch.setattr("cappunc_cli.files.fixer.Opened.restore", slow)
    with serving(queue=1) as (server, service):
        body = SRT.encode()
        head = f"POST /v1/fix HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        first, second = (socket.create_connection(("127.0.0.1", server.port)) for _ in range(2))
        first.sendall(head + body)
        assert started.wait(LONG)
        second.sendall(head + body)
        while service.work.waiting < 2:
            pass
        status, answer, headers = ask(server, "/v1/fix", body)
        assert (refused((status, answer, {}))[0], int(headers["Retry-After"]) > 0) == (429, True)
        first.close()
        second.close()
        while service.work.waiting:  # work that nobody waits for was stopped, though `go_on` was not said
            pass
        monkeypatch.undo()
        assert ask(server, "/v1/fix", body)[0] == 200
    with serving(timeout=1) as (server, _):
        monkeypatch.setattr("cappunc_cli.files.fixer.Opened.restore", slow)
        assert refused(ask(server, "/v1/fix", body))[0] == 503


def test_too_many_connections_are_refused() -> None:
    with serving() as (server, _):
        held = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(256)]
        held[-1].sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert held[-1].recv(100).split()[1] == b"200"
        with socket.create_connection(("127.0.0.1", server.port)) as late:
            assert late.recv(1000).split()[1] == b"503"
        for one in held:
            one.close()


def test_bytes_that_are_no_request(service: Server) -> None:
    for request in (
        b"\0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/9\r\n\r\n",
        b"A" * 70_000,
    ):
        with socket.create_connection(("127.0.0.1", service.port)) as connection:
            connection.sendall(request)
            assert connection.recv(100).split()[1] == b"400"
    assert ask(service, "/v1/health")[0] == 200


# --- what it says of itself


def test_models_health_and_metrics() -> None:
    with serving() as (server, _):
        assert json.loads(ask(server, "/v1/health")[1])["status"] == "ok"
        assert {"name": "en", "engine": "onnx"}.items() <= json.loads(ask(server, "/v1/models")[1])[0].items()
        ask(server, "/v1/fix?lang=en", SRT.encode())
        ask(server, "/nowhere")
        text = ask(server, "/metrics")[1].decode()
    found = dict(re.findall(r"^(cappunc_\S+) (\S+)$", text, re.MULTILINE))
    assert found['cappunc_requests_total{path="/v1/fix"}'] == "1"
    assert found["cappunc_words_total"] == "11"
    assert found["cappunc_refusals_total"] == "1"
    assert float(found["cappunc_work_seconds_total"]) > 0
    named = re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)
    assert len(named) == len(set(named))
    assert {name.partition("{")[0] for name in found} == set(named)


def test_the_openapi_document_has_all_paths_and_options(service: Server) -> None:
    found = json.loads(ask(service, "/v1/openapi.json")[1])
    assert {"/v1/fix", "/v1/words", "/v1/check", "/v1/stream", "/v2/check", "/metrics"} <= set(found["paths"])
    options = {one["name"]: one["schema"] for one in found["paths"]["/v1/fix"]["post"]["parameters"]}
    fix = described(load_reference("cappunc_cli.features.fix.options:FixOptions"))
    assert options["existing"]["enum"] == list(fix["existing"].choices)
    assert options["sensitivity"] == {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5}
    assert not {"glossary", "output", "in-place", "device", "files-from"} & set(options)


# --- the command


def test_it_says_where_and_drains() -> None:
    if sys.platform == "win32":
        pytest.skip("has no such signals")
    with subprocess.Popen(line("serve", "--port", "0"), stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.fullmatch(r"cappunc: listening on http://127\.0\.0\.1:(\d+)\n", server.stderr.readline())
        assert found
        with socket.create_connection(("127.0.0.1", int(found[1]))) as connection:
            body = SRT.encode()
            head = f"POST /v1/fix?lang=en HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body[:-1])
            with socket.create_connection(("127.0.0.1", int(found[1]))) as other:
                other.sendall(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert b" 200 " in other.recv(100)
            server.send_signal(signal.SIGTERM)
            connection.sendall(body[-1:])
            assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
        assert server.wait(LONG) == 0
        assert server.stderr.read() == ""


@pytest.mark.parametrize(
    ("call", "code", "message"),
    [
        ("serve --host 0.0.0.0", 2, "lets other machines in"), ("serve --host captions.example", 2, "lets other"),
        ("serve --token-file short", 2, "needs at least 16"), ("serve --token-file none", 1, "none: No such file"),
        ("serve --port 65536", 2, "Invalid value for '--port'"),
        ("serve --host 127.0.0.1 --port TAKEN", 1, "cannot listen"),
    ],
)  # fmt: skip
def test_what_cannot_be_served(service: Server, tmp_path: Path, call: str, code: int, message: str) -> None:
    (tmp_path / "short").write_text("secret")
    run = cappunc(*call.replace("TAKEN", str(service.port)).split(), cwd=tmp_path)
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (code, b"", 1)
    assert message in run.stderr.decode()


@pytest.mark.parametrize("call", ["serve", "stream --listen 127.0.0.1:0", "review talk.srt --open"])
def test_a_plain_installation_names_the_extra(tmp_path: Path, call: str) -> None:
    (tmp_path / "talk.srt").write_text(SRT)
    hidden = "import sys; sys.modules['starlette'] = None; from cappunc_cli.__main__ import main; main()"
    extra = MODEL if "review" in call else ()
    run = subprocess.run(
        [sys.executable, "-c", hidden, *call.split(), *extra], cwd=tmp_path, capture_output=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr.count(b"\n")) == (1, b"", 1)
    assert b"needs the extra serve" in run.stderr
