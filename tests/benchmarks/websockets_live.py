"""How long words wait beyond their look-ahead where many streams share one process, at the pace of speech.

    python tests/benchmarks/websockets_live.py --data ../shared/data > tests/benchmarks/results/websockets_live.json

`cappunc stream --listen` in a process of its own, so many WebSockets, each with words at the times of a real call; a
word's wait counts from the moment when the last word that it waits for was sent. Needs the extra [live].
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import time
from pathlib import Path

from measuring import head
from websockets.asyncio.client import connect

from cappunc_cli.application.scoring.samples import sources
from cappunc_cli.restoration.live import LOOK_AHEAD
from cappunc_cli.transcript.words import Word


async def one(address: str, words: list[Word], seconds: float) -> list[float]:
    """The waits of a stream's words."""
    sent: list[float] = []
    waits: list[float] = []
    async with connect(address, compression=None, proxy=None) as connection:

        async def listen() -> None:
            count = 0
            while True:
                lines = str(await connection.recv()).splitlines()
                now = time.perf_counter()
                for _ in lines:
                    waits.append(now - sent[count + LOOK_AHEAD])
                    count += 1

        listening = asyncio.create_task(listen())
        begun, first = time.perf_counter(), words[0].end or 0
        for word in words:
            due = ((word.end or 0) - first) / 1000
            if due > seconds:
                break
            await asyncio.sleep(max(begun + due - time.perf_counter(), 0))
            sent.append(time.perf_counter())
            await connection.send(json.dumps({"word": word.text, "start": word.start / 1000, "end": word.end / 1000}))
        await asyncio.sleep(1)
        listening.cancel()
    return waits


async def everybody(address: str, calls: list[list[Word]], count: int, seconds: float) -> list[float]:
    """The waits of all streams, each somewhere in a call."""
    talks = []
    for i in range(count):
        words = calls[i % len(calls)]
        talks.append(one(address, words[(137 * i) % (len(words) // 2) :], seconds))
    return [wait for waits in await asyncio.gather(*talks) for wait in waits]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of the training data")
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30)
    arguments = parser.parse_args()
    calls = []
    for source in sources([arguments.data / "timed/earnings21_revkaldi.jsonl.xz"], None, None):
        calls.append([w for w in source.stripped() if w.start is not None and w.end is not None])
        if len(calls) == 10:
            break
    command = [sys.executable, "-m", "cappunc_cli", "stream", "--engine", "gru", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            found = re.search(r"ws://\S+", server.stderr.readline())
            assert found is not None
            waits = sorted(asyncio.run(everybody(found[0], calls, arguments.streams, arguments.seconds)))
            times = Path(f"/proc/{server.pid}/stat").read_text().split() if Path("/proc").is_dir() else None
        finally:
            server.terminate()
    report = {
        **head(arguments.data),
        "streams": arguments.streams,
        "seconds": arguments.seconds,
        "words": len(waits),
        "wait_ms": {str(part): round(1000 * waits[int(len(waits) * part / 100)], 1) for part in (50, 90, 99)},
        # In clock ticks of a hundredth of a second, with the opening of the model.
        "processor_seconds": None if times is None else (int(times[13]) + int(times[14])) / 100,
    }
    print(json.dumps(report, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
