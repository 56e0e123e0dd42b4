"""The server beside `fix`: the same bytes, hostile requests, and how much it does for 1, 4 and 16 clients.

    python tests/benchmarks/server.py --samples ../shared/samples

First 60 files of all formats, in turn, through the command line, `/v1/fix` and a request of Subtitle Edit (text only):
all must agree, to the byte or in what refuses them. Then hostile requests: lengths, encodings, headers, slow clients,
half messages of WebSockets and 500 connections at once; each must be answered by the table of statuses, and afterwards
the server must answer as before, with no more memory and no more open files than a warm one. Then the load.
Server and clients share the machine.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from measuring import head, print_report

from cappunc_cli.features.serve.openapi import STATUSES
from cappunc_cli.features.subtitle_edit.command import run
from cappunc_cli.features.subtitle_edit.options import RunOptions

CALL = [sys.executable, "-m", "cappunc_cli"]
_FILES, _HOSTILE, _CONNECTIONS = 60, 5_000, 500
#: Statuses that may answer a hostile request; 404 and 405 are those of paths that are none.
_ALLOWED = {200, 404, 405, *STATUSES}


@contextmanager
def server() -> Iterator[tuple[int, int]]:
    """A server of its own process: its port and its process."""
    call = [*CALL, "serve", "--port", "0", "--device", "cpu", "--max-mb", "4", "--timeout", "120"]
    with subprocess.Popen(call, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r":(\d+)$", process.stderr.readline().strip())
        assert found
        try:
            yield int(found[1]), process.pid
        finally:
            process.terminate()
            assert process.wait(60) == 0, "it did not end cleanly"
            said = process.stderr.read()
            assert said == "", said


def post(port: int, path: str, body: bytes) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    connection.request("POST", path, body)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


# --- the same bytes


def chosen(samples: Path) -> list[Path]:
    """Files of all formats, in turn, none of them large."""
    folders = [
        sorted(path for path in folder.iterdir() if path.is_file())
        for folder in sorted(samples.iterdir())
        if folder.is_dir()
    ]
    turns = [[path for path in folder if path.stat().st_size < 60_000][:4] for folder in folders]
    found = [paths[i] for i in range(4) for paths in turns if i < len(paths)]
    return found[:_FILES]


def same_bytes(port: int, files: Sequence[Path], place: Path) -> dict[str, Any]:
    """How many of the files have the same result, or are refused with the same message, in all three ways."""
    counts: Counter[str] = Counter()
    names = [f"{number:02}-{path.name}" for number, path in enumerate(files)]
    for name, path in zip(names, files, strict=True):
        (place / name).write_bytes(path.read_bytes())
    made = subprocess.run(
        [*CALL, "fix", "--device", "cpu", *names, "-o", "out/"], cwd=place, capture_output=True, check=False
    )
    said = made.stderr.decode("utf-8", "replace")
    kinds = set()
    for name, path in zip(names, files, strict=True):
        data, result = path.read_bytes(), place / "out" / name
        status, body = post(port, f"/v1/fix?name={quote(name)}", data)
        if result.exists():
            assert (status, body) == (200, result.read_bytes()), path
            counts["fixed"] += 1
            kinds.add(path.parent.name)
        else:
            assert status in (400, 422), (path, status, body)
            entry = json.loads(body)
            line = f":{entry['line']}" if entry["line"] else ""
            assert f"{name}{line}: {entry['message']}" in said, (path, entry)
            counts["refused"] += 1
        with suppress(UnicodeDecodeError):
            found = by_subtitle_edit(name, data.decode(), place)
            if found["status"] == "ok":
                assert found["subtitle"]["native"].encode() == result.read_bytes(), path
                counts["by_subtitle_edit"] += 1
    return {"files": len(files), **counts, "kinds": len(kinds)}


def by_subtitle_edit(name: str, text: str, place: Path) -> dict[str, Any]:
    """The response of the plug-in to a request with a file's text, which it cannot answer in another format."""
    request, target = place / "request.json", place / "response.json"
    subtitle = {"format": "native", "fileName": name, "native": text, "subRip": ""}
    known = {"apiVersion": 1, "responseFilePath": str(target), "subtitle": subtitle}
    request.write_text(json.dumps(known), "utf-8")
    run(cast(Any, None), RunOptions(str(request)))
    found: dict[str, Any] = json.loads(target.read_bytes())
    return found


# --- hostile requests


def hostile(chance: random.Random) -> bytes:
    """A request that no honest client sends."""
    body = bytes(chance.randrange(256) for _ in range(chance.randrange(200)))
    path = chance.choice(
        [
            "/v1/fix",
            "/v1/words",
            "/v1/check",
            "/v2/check",
            "/v1/stream",
            "/metrics",
            "/",
            "/v1/../x",
            "/%00",
            "/" + "a" * 3000,
        ]
    )
    query = chance.choice(
        [
            "",
            "?lang=en",
            "?lang=\xff",
            "?model=/etc/passwd",
            "?" + "a=b&" * 500,
            "?fast=&fast=",
            "?sensitivity=nan",
            "?fps=1e999",
        ]
    )
    host = chance.choice(
        [
            "Host: localhost",
            "Host: evil.example",
            "Host: a\r\nHost: b",
            "X: y",
            "Host: [::1",
            "Host: localhost:99999999",
        ]
    )
    length = chance.choice([str(len(body)), "-1", "99999999999999999999", "1e3", str(len(body) + 5), "0", ""])
    more = chance.choice(
        [
            "", "Transfer-Encoding: chunked", "Content-Type: multipart/form-data; boundary=x", "Expect: 100-continue",
            "Content-Type: multipart/form-data", "Upgrade: websocket\r\nConnection: Upgrade", "Content-Encoding: gzip",
            "Origin: null", "Authorization: Bearer \xff", "Cookie: " + "x" * 5000, "X: " + "y" * 70_000,
            "Content-Length: 3",
            "Content-Type: application/x-www-form-urlencoded", "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
        ]
    )  # fmt: skip
    method = chance.choice(["POST", "GET", "PUT", "OPTIONS", "HEAD", "P\0ST", "post", "CONNECT"])
    version = chance.choice(["HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", ""])
    request = (
        f"{method} {path}{query} {version}\r\n{host}\r\nContent-Length: {length}\r\n{more}\r\n\r\n".encode("latin-1")
        + body
    )
    return request if chance.random() < 0.9 else request[: chance.randrange(len(request))]


def attack(port: int, seed: int, count: int) -> Counter[str]:
    """Send hostile requests, each on a connection of its own; what came back, by status."""
    chance, found = random.Random(seed), Counter[str]()
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
            try:
                connection.sendall(hostile(chance))
                if chance.random() < 0.8:
                    connection.shutdown(socket.SHUT_WR)
                status = re.match(rb"HTTP/1\.1 (\d+) ", connection.recv(100))
                found[status[1].decode() if status else "closed"] += 1
            except TimeoutError:
                found["waits for more"] += 1
            except OSError:
                found["closed"] += 1
    return found


def crowd(port: int) -> dict[str, int]:
    """Many connections at once that say nothing, and one that asks."""
    held = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(_CONNECTIONS)]
    time.sleep(2)
    refused = 0
    for one in held:
        one.setblocking(False)
        with suppress(BlockingIOError):
            refused += one.recv(20).startswith(b"HTTP/1.1 503")
    for one in held:
        one.close()
    return {"connections": _CONNECTIONS, "refused": refused}


def held_by(pid: int) -> tuple[int, int]:
    """Memory of a process in MB, and its open files."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) // 1024, len([*Path(f"/proc/{pid}/fd").iterdir()])


def hostility(port: int, pid: int) -> dict[str, Any]:
    probe = b"1\n00:00:01,000 --> 00:00:03,000\nhello anna then we went to london\n"
    expected = post(port, "/v1/fix?lang=en", probe)
    attack(port, 0, 300)
    before, started = held_by(pid), time.perf_counter()
    found: Counter[str] = Counter()
    results: list[Counter[str]] = []
    threads = [threading.Thread(target=lambda n=n: results.append(attack(port, n, _HOSTILE // 8))) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        found += result
    many = crowd(port)
    time.sleep(1)
    after = held_by(pid)
    unknown = {status for status in found if status.isdigit() and int(status) not in {*_ALLOWED, 101}}
    assert not unknown, unknown
    assert post(port, "/v1/fix?lang=en", probe) == expected
    answers = dict(sorted(found.items()))
    spent = round(time.perf_counter() - started, 1)
    memory = {"MB before": before[0], "MB after": after[0], "files before": before[1], "files after": after[1]}
    return {"requests": sum(found.values()), "answers": answers, **many, **memory, "seconds": spent}


# --- load


def load(port: int, text: bytes, words: int, clients: int, each: int) -> dict[str, Any]:
    """Clients that ask at once, one request after the other."""
    waited: list[float] = []

    def client() -> None:
        for _ in range(each):
            started = time.perf_counter()
            status, _ = post(port, "/v1/fix?lang=en&fast", text)
            assert status == 200, status
            waited.append(time.perf_counter() - started)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - started
    p99 = statistics.quantiles(waited, n=100)[98] if len(waited) > 1 else waited[0]
    figures = {"p50 ms": round(1000 * statistics.median(waited)), "p99 ms": round(1000 * p99)}
    return {"clients": clients, "words/s": round(words * len(waited) / spent), **figures}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=Path, required=True)
    parser.add_argument("--talk", type=Path, default=Path("fixtures/srt/talk.srt"))
    asked = parser.parse_args()
    text = asked.talk.read_bytes()
    report = head(command="python tests/benchmarks/server.py --samples $SAMPLES")
    with server() as (port, pid), tempfile.TemporaryDirectory() as place:
        report["bytes"] = same_bytes(port, chosen(asked.samples), Path(place))
        print(report["bytes"], file=sys.stderr, flush=True)
        report["hostile"] = hostility(port, pid)
        print(report["hostile"], file=sys.stderr, flush=True)
        words = json.loads(post(port, "/v1/fix?lang=en&fast&report=json", text)[1])["words"]
        report["load"] = [load(port, text, words, clients, 12) for clients in (1, 4, 16)]
    with tempfile.TemporaryDirectory() as place:
        for i in range(20):
            Path(place, f"{i}.srt").write_bytes(text)
        call = [*CALL, "fix", "--lang", "en", "--fast", "--device", "cpu", "-q", place, "-o", f"{place}/out/"]
        started = time.perf_counter()
        subprocess.run(call, check=True)
        report["fix_words_per_s"] = round(20 * words / (time.perf_counter() - started))
    print_report(report)


if __name__ == "__main__":
    main()
