"""How long words wait beyond their look-ahead if many streams share one process, and the memory of one over ten hours.

    python tests/benchmarks/websockets_live.py --data ../shared/data > tests/benchmarks/results/websockets_live.json

`cappunc stream --engine gru --listen` runs in a process of its own. First many WebSockets, each with the words of a
real call at the times at which they were said; the wait of a word counts from the moment when the last word of its
look-ahead was due until the client has the answer, so that a late client or a lost word makes the figures worse.
Then one WebSocket with hours of speech at full speed, and the memory of the server after each hour of it.
Server and clients share the machine. Needs the extra [serve], and Linux for memory and processor time.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from measuring import head, identity, options_with_data, print_report, resident
from websockets.asyncio.client import connect

from cappunc_cli.document.words import Word
from cappunc_cli.restoration.models.registry import ModelConfig, find_model
from cappunc_cli.restoration.tuned import LOOK_AHEAD
from models.lab.datasets import benchmark

MODEL = "en-live"
#: Human words with the times of a recogniser; every call is for evaluation, and nothing is chosen on them.
CALLS = "timed/earnings21_revkaldi.jsonl.xz"
#: Messages under way in the long text.
_UNDER_WAY = 64
_HOUR = 3_600_000
#: Between two calls of the long text (ms).
_BREAK = 2000

Said = tuple[str, int, int]


def message(word: Said) -> str:
    text, start, end = word
    return json.dumps({"word": text, "start": start / 1000, "end": end / 1000})


async def one(address: str, words: Sequence[Said], begun: float, seconds: float) -> list[float]:
    """The waits (s) of a stream's words, said from `begun` on; infinite where an answer never came."""
    first = words[0][2]
    due = [begun + (end - first) / 1000 for _, _, end in words]
    count = sum(then < begun + seconds for then in due)
    came: list[float] = []
    async with connect(address, compression=None, proxy=None) as connection:

        async def listen() -> None:
            while len(came) < count - LOOK_AHEAD:
                lines = str(await connection.recv()).splitlines()
                came.extend([time.perf_counter()] * len(lines))

        listening = asyncio.create_task(listen())
        for word, then in zip(words[:count], due, strict=False):
            await asyncio.sleep(max(then - time.perf_counter(), 0))
            await connection.send(message(word))
        await asyncio.wait([listening], timeout=10)
        listening.cancel()
    waits = [there - due[place + LOOK_AHEAD] for place, there in enumerate(came)]
    return waits + [math.inf] * (count - LOOK_AHEAD - len(waits))


async def everybody(address: str, calls: Sequence[Sequence[Said]], count: int, seconds: float) -> list[float]:
    """The waits of all streams, each somewhere in a call; they begin within a second."""
    begun = time.perf_counter() + 5
    talks = []
    for i in range(count):
        words = calls[i % len(calls)]
        talks.append(one(address, words[(137 * i) % (len(words) // 2) :], begun + i / count, seconds))
    return [wait for waits in await asyncio.gather(*talks) for wait in waits]


def endless(calls: Sequence[Sequence[Said]]) -> Iterator[Said]:
    """The calls one after the other, again and again, on one clock."""
    clock = 0
    for call in cycle(calls):
        first = call[0][1]
        for text, start, end in call:
            yield text, clock + start - first, clock + end - first
        clock += call[-1][2] - first + _BREAK


async def long_one(address: str, calls: Sequence[Sequence[Said]], hours: int, server: int) -> tuple[int, list[float]]:
    """Words of so many hours, and the memory (MB) of the server before them and after each hour."""
    held = [round(resident(server), 1)]
    room, sent, came = asyncio.Semaphore(_UNDER_WAY), 0, 0
    async with connect(address, compression=None, proxy=None) as connection:

        async def listen() -> None:
            nonlocal came
            while True:
                for _ in str(await connection.recv()).splitlines():
                    came += 1
                    room.release()

        listening = asyncio.create_task(listen())
        for word in endless(calls):
            if word[1] >= _HOUR * len(held):
                held.append(round(resident(server), 1))
                if len(held) > hours:
                    break
            # What waits for its look-ahead has no answer yet.
            if sent >= LOOK_AHEAD:
                await room.acquire()
            await connection.send(message(word))
            sent += 1
        listening.cancel()
    return sent, held


def processor_seconds(process: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(words: Sequence[Word]) -> list[Said]:
    return [(w.text, w.start, w.end) for w in words if w.start is not None and w.end is not None]


def main() -> None:
    parser = options_with_data(__doc__)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--hours", type=int, default=10, help="of speech in one stream, as fast as it is taken")
    arguments = parser.parse_args()
    calls = []
    for source in benchmark(arguments.data / CALLS):
        calls.append(timed(source.stripped()))
        if len(calls) == 10:
            break
    config = ModelConfig.load(find_model(MODEL, "gru"), "gru")
    report: dict[str, Any] = {
        **head(arguments.data),
        "model": identity(config),
        "look_ahead": LOOK_AHEAD,
        "streams": arguments.streams,
        "seconds": arguments.seconds,
    }
    command = [sys.executable, "-m", "cappunc_cli", "stream", "--engine", "gru", "--model", MODEL]
    with subprocess.Popen([*command, "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            found = re.search(r"ws://\S+", server.stderr.readline())
            assert found is not None
            before = processor_seconds(server.pid)
            waits = sorted(asyncio.run(everybody(found[0], calls, arguments.streams, arguments.seconds)))
            spent = processor_seconds(server.pid) - before
            report |= {
                "words": len(waits),
                "wait_ms": {
                    str(part): round(1000 * waits[min(int(len(waits) * part / 100), len(waits) - 1)], 1)
                    for part in (50, 95, 99, 100)
                },
                "processor_ms_a_word": round(1000 * spent / len(waits), 3),
                "cores_busy": round(spent / arguments.seconds, 3),
            }
            print(report["wait_ms"], file=sys.stderr, flush=True)
            sent, held = asyncio.run(long_one(found[0], calls, arguments.hours, server.pid))
            report |= {"hours": arguments.hours, "words_in_hours": sent, "memory_mb": held}
        finally:
            server.terminate()
    print_report(report)


if __name__ == "__main__":
    main()
