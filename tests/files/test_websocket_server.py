"""`cappunc stream --listen`: many streams in one process, of which none minds another."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from commands import cappunc

pytest.importorskip("starlette")

from websockets.asyncio import client
from websockets.exceptions import ConnectionClosed

from cappunc_cli.document.labels import strip
from cappunc_cli.document.words import Word
from cappunc_cli.restoration.live import LiveRestorer
from cappunc_cli.restoration.models.model import Model, load_model
from cappunc_cli.restoration.options import Options

TINY = Path(__file__).parents[1] / "tiny_gru"
UPGRADE = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
UPGRADE += "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
BARE = ["hello", "then", "why", "and", "the", "cat", "went", "here", "i", "london", "nato", "iphone", "dr"]
#: Without pings, whose answers a busy machine may delay until the connection counts as broken.
connect = partial(client.connect, compression=None, proxy=None, ping_interval=None)


def command(*arguments: str, model: Path = TINY, engine: str = "gru") -> list[str]:
    start = [sys.executable, "-m", "cappunc_cli", "stream", "--engine", engine, "--model", str(model)]
    return [*start, "--device", "cpu", *arguments]


@contextmanager
def server(*arguments: str, **options: Any) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server on a free port of this machine: its address and its process."""
    everything = command("--listen", "127.0.0.1:0", *arguments, **options)
    with subprocess.Popen(
        everything, env={**os.environ, "NO_PROXY": "*"}, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            told = process.stderr.readline()
            found = re.fullmatch(r"cappunc: listening on (ws://127\.0\.0\.1:\d+)\n", told)
            assert found, told
            yield found[1], process
        finally:
            process.kill()


def lines_of(seed: int, count: int) -> list[str]:
    chance, clock, lines = Random(seed), 0.0, []
    for _ in range(count):
        word = {"word": chance.choice(BARE), "start": round(clock, 2), "end": round(clock + 0.3, 2), "id": seed}
        lines.append(json.dumps(word))
        clock += 0.3 + chance.choice([0, 0.1, 0.9])
    return lines


@cache
def tiny() -> Model:
    return load_model(str(TINY), "cpu", engine="gru")


def expected(lines: Sequence[str], look_ahead: int = 8) -> list[str]:
    """What one stream of its own gives."""
    stream = LiveRestorer(tiny(), Options(), look_ahead)
    found: list[str] = []
    for line in map(json.loads, lines):
        found += stream.feed(Word(line["word"], round(1000 * line["start"]), round(1000 * line["end"]), turn=0))
    return [*found, *stream.end()]


async def talk(address: str, lines: Sequence[str], pause: float = 0) -> list[str]:
    """All that comes back, a line each; the text is closed at its end."""
    found: list[str] = []

    async with connect(address) as connection:

        async def listen() -> None:
            try:
                while True:
                    found.extend(str(await connection.recv()).splitlines())
            except ConnectionClosed:
                return

        listening = asyncio.create_task(listen())
        for line in lines:
            await connection.send(line)
            if pause:
                await asyncio.sleep(pause)
        await connection.send("")
        await listening
    return found


async def rest(connection: Any) -> tuple[str, int | None]:
    """What still comes, and the code that the server closes with."""
    found = ""
    with suppress(ConnectionClosed):
        while True:
            found += str(await connection.recv())
    return found, connection.close_code


def test_many_concurrent_streams_equal_single_ones() -> None:
    talks = [lines_of(seed, 25) for seed in range(30)]

    async def everybody(address: str) -> list[list[str]]:
        return await asyncio.gather(*(talk(address, lines) for lines in talks))

    with server() as (address, process):
        found = asyncio.run(everybody(address))
        assert process.poll() is None
    for lines, shown in zip(talks, found, strict=True):
        assert [json.loads(line)["word"] for line in shown] == expected(lines)
        for old, new in zip(lines, shown, strict=True):
            assert new == json.dumps({**json.loads(old), "word": json.loads(new)["word"]})


def test_a_failing_stream_does_not_affect_others() -> None:
    async def some(address: str) -> list[str]:
        dying = await connect(address)
        await dying.send(lines_of(1, 1)[0])
        steady = asyncio.create_task(talk(address, lines_of(2, 30), 0.01))
        for line in lines_of(1, 15):
            await dying.send(line)
        dying.transport.abort()
        await dying.wait_closed()
        broken = await talk(address, ['{"word": "hello"}', '{"word": "an', "[1]", '{"word": "anna"}'])
        assert [set(json.loads(line)) for line in broken] == [{"error"}, {"error"}, {"word"}, {"word"}]
        assert [json.loads(line)["error"][:3] for line in broken[:2]] == ["2: ", "3: "]
        await talk(address, ["x" * 100_000, "\x00", "\ud7ff"])
        return await steady

    with server() as (address, process):
        found = asyncio.run(some(address))
        assert [json.loads(line)["word"] for line in found] == expected(lines_of(2, 30))
        assert process.poll() is None


def test_a_client_that_does_not_read_blocks_no_other() -> None:
    long = json.dumps({"word": "hello", "note": "x" * 50_000})

    async def stuffed(address: str) -> int:
        connection = await connect(address, max_queue=1)
        sent = 0
        try:
            async with asyncio.timeout(3):
                while True:
                    await connection.send(long)
                    sent += 1
        except TimeoutError:
            pass
        other = await talk(address, lines_of(3, 20))
        assert [json.loads(line)["word"] for line in other] == expected(lines_of(3, 20), 0)
        connection.transport.abort()
        await connection.wait_closed()
        return sent

    with server("--look-ahead", "0") as (address, _):
        # The buffers of two sockets and of both ends hold some megabytes; then it is refused.
        assert 50_000 * asyncio.run(stuffed(address)) < 100e6


def test_plain_words_and_the_ends_of_turns() -> None:
    async def plain(address: str) -> str:
        async with connect(address) as connection:
            for message in ("hello anna", "and then", "\n\n", "why"):
                await connection.send(message)
            await connection.send("")
            found, code = await rest(connection)
            assert code == 1000
        return found

    with server() as (address, _):
        found = asyncio.run(plain(address))
    assert [strip(word)[0] for word in found.split()] == ["hello", "anna", "and", "then", "why"]
    assert found.count("\n\n") == 1
    assert found.endswith("\n")
    assert strip(found.split()[-1])[1].mark


def test_other_engines_and_the_maximal_delay() -> None:
    async def waiting(address: str) -> str:
        async with connect(address) as connection:
            await connection.send("hello anna")
            async with asyncio.timeout(60):
                return str(await connection.recv())

    arguments = ("--look-ahead", "50", "--max-delay", "0.3", "--every", "2")
    with server(*arguments, model=TINY.parent / "tiny_model", engine="onnx") as (address, _):
        assert asyncio.run(waiting(address)).startswith("Hello")


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_stopping_sends_the_waiting_words() -> None:
    async def until(address: str, process: subprocess.Popen[str]) -> tuple[str, int]:
        async with connect(address) as connection:
            await connection.send("hello anna and then the cat went home today ")
            found = str(await connection.recv())
            process.send_signal(signal.SIGTERM)
            more, code = await rest(connection)
            return found + more, code

    with server("--look-ahead", "3") as (address, process):
        found, code = asyncio.run(until(address, process))
        assert len(found.split()) == 9
        assert code == 1001
        assert process.wait(60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_missing_terms_are_reported_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text("BioNTech\nNew York\nKubernetes\n", "utf-8")

    async def two(address: str) -> None:
        # What one says is no part of what the other says.
        for said in ("kubernetes and bio", "n tech in new", "york"):
            async with connect(address) as connection:
                await connection.send(said)
                await connection.send("")
                await rest(connection)

    with server("--glossary", str(tmp_path / "terms.txt")) as (address, process):
        asyncio.run(two(address))
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == "cappunc: 2 glossary terms found in no stream: New York, BioNTech\n"


def test_a_port_in_use() -> None:
    with server() as (address, _):
        port = address.removeprefix("ws://")
        run = cappunc(*command("--listen", port)[3:])
    assert run.returncode == 1
    assert re.fullmatch(rb"cappunc: cannot listen on 127\.0\.0\.1:\d+ \(.*\)\n", run.stderr)


@pytest.mark.parametrize(
    ("options", "answers"),
    [
        (
            "",
            [
                ("", 101), ("Origin: https://evil.example", 403), ("Origin: null", 403), ("Host: evil.example", 403),
                ("Origin: http://localhost:3000", 403), ("Host: evil.example:80", 403), ("Host: localhost:80", 101),
                ("Host: localhost.evil.example", 403), ("Host: [::1]:80", 101),
            ],
        ),
        (
            "--allow-origin https://good.example --allow-host captions.example",
            [
                ("Origin: https://good.example", 101), ("Origin: https://good.example.evil.example", 403),
                ("Host: captions.example", 101), ("Host: evil.example", 403),
            ],
        ),
    ],
)  # fmt: skip
def test_foreign_pages_and_names_are_refused(options: str, answers: list[tuple[str, int]]) -> None:
    with server(*options.split()) as (address, _):
        port = address.rpartition(":")[2]
        for header, status in answers:
            host = "" if header.startswith("Host") else f"Host: 127.0.0.1:{port}\r\n"
            request = f"GET / HTTP/1.1\r\n{host}{header or 'X: y'}\r\n{UPGRADE}\r\n\r\n"
            with socket.create_connection(("127.0.0.1", int(port))) as connection:
                connection.sendall(request.encode())
                assert connection.recv(100).split()[1] == str(status).encode(), header


def test_two_hosts_are_refused_without_a_trace() -> None:
    with server() as (address, process):
        port = int(address.rpartition(":")[2])
        for second in ("Host: localhost", "Host: evil.example", "Content-Length: x"):
            request = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{second}\r\n{UPGRADE}\r\n\r\n"
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(request.encode())
                assert connection.recv(100).startswith(b"HTTP/1.1 400 ")
        process.terminate()
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
