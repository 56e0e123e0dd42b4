"""Kill `cappunc fix DIR -o OUT` at random moments; running it again must lose nothing and leave nothing behind.

    python tests/kills.py --count 50 --report        writes tests/kills.json

Each run gets SIGINT, SIGTERM, SIGHUP or SIGKILL, with and without `--jobs`; with `--jobs`, some lose a worker process
instead. After that, every result must be complete. The same command must then end with exit code 0, must not repeat
finished work, and must leave what an undisturbed run leaves: the same results, a record of all of them, and no
temporary files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random

from cappunc_cli import __version__
from cappunc_cli.features.bench.hardware import hardware

HERE = Path(__file__).resolve().parent
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
RECORD = ".cappunc"
#: The outcome of a run that ended before it was killed.
LATE = "ended before"
WORDS = ["hello", "anna", "then", "we", "went", "to", "london", "where", "is", "the", "cat", "dog"]
#: Files in the tree, and the most seconds that a run may take, on a busy machine.
FILES, LONGEST_S = 300, 600


@dataclass(frozen=True, slots=True)
class Kill:
    """One run: the number of `workers`, what gets which signal, and after how many results and further seconds."""

    workers: int
    victim: str
    sent: signal.Signals
    results: int
    delay: float

    @property
    def name(self) -> str:
        return f"{self.sent.name} to a {self.victim}, --jobs {self.workers}"


def plan(seed: int, files: int) -> Kill:
    """Plan kill number `seed`; each signal is used with one process and with several."""
    chance = Random(seed)
    workers = (1, 3)[seed // len(SIGNALS) % 2]
    victim = "worker" if workers > 1 and chance.random() < 0.25 else "run"
    sent = SIGNALS[seed % len(SIGNALS)] if victim == "run" else signal.SIGKILL
    results = chance.choice((0, 1, chance.randrange(2, files), chance.randrange(2, files)))
    # Before the first result, the run is still reading or starting.
    return Kill(workers, victim, sent, results, chance.choice((0.0, chance.uniform(0, 0.1 if results else 3))))


def make_tree(folder: Path, files: int = FILES) -> None:
    chance = Random(files)
    for i in range(files):
        path = folder / f"{i % 7}" / f"{i}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(" ".join(chance.choices(WORDS, k=chance.randrange(1, 120))) + "\n")


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder except the record, including hidden ones."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".jsonl")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def results(out: Path) -> int:
    """The number of results so far."""
    try:
        folders = [entry.path for entry in os.scandir(out) if entry.is_dir()]
    except FileNotFoundError:
        return 0
    return sum(name.endswith(".txt") for folder in folders for name in os.listdir(folder))  # noqa: PTH208


def command(source: Path, out: Path, workers: int) -> list[str]:
    options = ["--model", str(HERE / "tiny_model"), "--device", "cpu", "--jobs", str(workers)]
    return [sys.executable, "-m", "cappunc_cli", "fix", *options, str(source), "-o", str(out)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HERE.parent)}


def run(source: Path, out: Path, workers: int) -> subprocess.CompletedProcess[str]:
    """Run the command undisturbed."""
    arguments = command(source, out, workers)
    return subprocess.run(
        arguments,
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
        timeout=LONGEST_S,
        start_new_session=True,
    )


def children(pid: int) -> list[int]:
    """The worker processes of a process."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"spawn_main" in (path.parent / "cmdline").read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue  # it has just ended
    return found


def strike(kill: Kill, source: Path, out: Path) -> str:
    """Run the command, kill it and return how it ended, when its workers have ended, too."""
    # Background jobs ignore SIGINT and SIGHUP, and their children inherit that; a user's process does not.
    handlers = "signal.signal(signal.SIGINT, signal.default_int_handler); signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    code = f"import signal; {handlers}; from cappunc_cli.cli.main import main; main()"
    arguments = [sys.executable, "-c", code, *command(source, out, kill.workers)[3:]]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()) as process:
        assert process.stderr is not None
        deadline = time.monotonic() + LONGEST_S
        while process.poll() is None and time.monotonic() < deadline:
            if results(out) >= kill.results and (kill.victim == "run" or children(process.pid)):
                break
            time.sleep(0.002)
        time.sleep(kill.delay)
        victims = [process.pid] if kill.victim == "run" else children(process.pid)[:1]
        for victim in victims:
            if process.poll() is None:
                os.kill(victim, kill.sent)
        process.stderr.read()  # until the last worker has ended
    return LATE if process.returncode == 0 else "killed" if process.returncode < 0 else "stopped"


def check(kill: Kill, source: Path, out: Path, expected: dict[str, bytes]) -> tuple[str, list[str]]:
    """Kill a run and run the command again; returns how the first run ended, and what is wrong after the second."""
    ended = strike(kill, source, out)
    finished = {name: data for name, data in contents(out).items() if not name.endswith(".tmp")}
    wrong = [f"{name}: incomplete" for name, data in finished.items() if expected.get(name) != data]
    again = run(source, out, kill.workers)
    if again.returncode != 0:
        wrong.append(f"the same command failed: {again.stderr.strip()[-500:]}")
    skipped = f"{len(finished):,} up to date"
    if finished and skipped not in again.stderr:
        wrong.append(f"{len(finished)} results were finished; {again.stderr.strip()[-200:]}")
    found = contents(out)
    wrong += [f"{name}: missing or left behind" for name in found.keys() ^ expected.keys()]
    wrong += [f"{name}: different" for name in found.keys() & expected.keys() if found[name] != expected[name]]
    recorded = set()
    parts = (out / RECORD).glob("*.jsonl")
    for entry in (json.loads(line) for part in parts for line in part.read_text("utf-8").splitlines()):
        path = out / entry["file"]
        digest = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest() if path.exists() else ""
        if path.exists() and entry["output"] == [path.stat().st_size, digest]:
            recorded.add(entry["file"])
    wrong += [f"{name}: not in the record" for name in found.keys() - recorded]
    shutil.rmtree(out, ignore_errors=True)
    return ended, wrong


def kills(count: int, files: int, seed: int = 0, jobs: int = 1) -> tuple[Counter[str], Counter[str], list[str]]:
    """Carry out `count` kills; returns counts by name and by outcome, and what was wrong. Late ones are repeated."""
    names: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(jobs) as threads:
        source, whole = Path(place, "in"), Path(place, "whole")
        make_tree(source, files)
        undisturbed = run(source, whole, 1)
        assert undisturbed.returncode == 0, undisturbed.stderr
        expected = contents(whole)
        assert len(expected) == files

        def one(number: int) -> tuple[int, Kill, str, list[str]]:
            kill = plan(number, files)
            return number, kill, *check(kill, source, Path(place, f"out{number}"), expected)

        while (missing := count - ends.total() + ends[LATE]) > 0 and ends[LATE] <= count:
            for number, kill, ended, wrong in threads.map(one, range(seed, seed + missing)):
                names[kill.name] += ended != LATE
                ends[ended] += 1
                failures += [f"kill {number}, {kill}: {line}" for line in wrong]
                print(number, kill.name, ended, *wrong[:3], flush=True)
            seed += missing
    return names, ends, failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time")
    parser.add_argument("--report", action="store_true", help="write tests/kills.json")
    options = parser.parse_args()
    started = time.monotonic()
    names, ends, failures = kills(options.count, options.files, options.seed, options.jobs)
    report = {
        "command": f"python tests/kills.py {' '.join(sys.argv[1:])}",
        "date": date.today().isoformat(),
        "version": __version__,
        "python": platform.python_version(),
        "hardware": hardware(),
        "files": options.files,
        "seconds": round(time.monotonic() - started),
        "kills": dict(sorted((+names).items())),
        "ended": dict(sorted(ends.items())),
        "failures": failures,
    }
    if options.report:
        (HERE / "kills.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
