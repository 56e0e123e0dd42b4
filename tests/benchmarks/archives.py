"""What a run over an archive costs and survives: `cappunc archive --ray SOURCE TARGET` on files that this script makes.

    python tests/benchmarks/archives.py pace --files 5000      one process and Ray side by side, memory over time
    python tests/benchmarks/archives.py s3 --files 500         an S3 server as source and target, 5 % of requests fail
    python tests/benchmarks/archives.py kills --count 20       kill a worker, the driver or the node at random
    python tests/benchmarks/archives.py hang                   a file that hangs, a file that takes all memory

Each writes its part of tests/benchmarks/results/archives.json. Needs the extra `ray`, and for s3 also
s3fs and moto[server]. The model is that of the tests (8 KB), so that everything but the model is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import measuring

from cappunc_cli.features.bench import sample_text

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "archives.json"
ROOT = HERE.parents[1]
MODEL = HERE.parent / "tiny_model"
WORDS = ["hello", "anna", "then", "we", "went", "to", "london", "where", "is", "the", "cat", "dog"]
#: Settings that keep Ray from taking all resources of the machine.
RAY = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_memory_monitor_refresh_ms": "0",
    "RAY_enable_metrics_collection": "0",
    # By default Ray's workers have the lowest priority on the machine.
    "RAY_worker_niceness": "0",
    "PYTHONPATH": str(ROOT),
    "OMP_NUM_THREADS": "1",
}


def ctm(words: list[str]) -> str:
    return "".join(f"talk 1 {i / 2:.2f} 0.40 {word}\n" for i, word in enumerate(words))


FORMATS: dict[str, Callable[[list[str]], str]] = {
    "srt": sample_text.srt,
    "vtt": lambda words: "WEBVTT\n\n" + re.sub(r"(\d),(\d)", r"\1.\2", sample_text.srt(words)),
    "json": sample_text.whisper_json,
    "ctm": ctm,
    "txt": lambda words: " ".join(words) + "\n",
}


def make_tree(folder: Path, files: int, most_words: int = 200) -> int:
    """So many files of five formats, a hundred to a folder; how many words they have."""
    chance = Random(files)
    total = 0
    for i in range(files):
        suffix = list(FORMATS)[i % len(FORMATS)]
        words = chance.choices(WORDS, k=chance.randrange(10, most_words))
        path = folder / f"{i // 100:04}" / f"{i:06}.{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FORMATS[suffix](words))
        total += len(words)
    return total


def contents(folder: Path) -> dict[str, bytes]:
    """All results below a folder."""
    found = (path for path in folder.rglob("*") if path.is_file())
    named = {path.relative_to(folder).as_posix(): path for path in found}
    # Neither the record nor what a killed worker was writing.
    return {name: path.read_bytes() for name, path in named.items() if "/.cappunc" not in f"/{name}"}


def command(*arguments: object, files_together: int | None = None) -> list[str]:
    """A call of cappunc; with blocks of so few files that a small tree has many."""
    call = ["archive", "--model", str(MODEL), "--lang", "en", "--device", "cpu", *map(str, arguments)]
    small = f"from cappunc_cli.files import run; run.FILES_TOGETHER = {files_together}; "
    # Ray gives its node 30 seconds to begin, which on a machine that others use is too little.
    patient = (
        "import time, types, ray._private.node as node; "
        "node.time = types.SimpleNamespace(**{**vars(time), 'monotonic': lambda: time.monotonic() / 10}); "
    )
    # A background job inherits that Ctrl-C is ignored; a user's own process does not.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        f"{patient if '--ray' in arguments else ''}"
        f"{small if files_together else ''}sys.argv = ['cappunc', *sys.argv[1:]]; "
        "from cappunc_cli.cli.main import main; main()"
    )
    return [sys.executable, "-c", code, *call]


def run(asked: list[str], extra: dict[str, str] | None = None) -> tuple[subprocess.CompletedProcess[str], float]:
    begun = time.monotonic()
    done = subprocess.run(asked, capture_output=True, text=True, env=environment(extra), check=False)
    return done, time.monotonic() - begun


def environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, **RAY, **(extra or {})}


def family(pid: int) -> dict[int, str]:
    """A process and all that it has started, with the titles that they have."""
    parents: dict[int, int] = {}
    titles: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            own = int(path.parent.name)
            parents[own] = int(path.read_text().rpartition(")")[2].split()[1])
            titles[own] = (path.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    found = {pid}
    while new := {child for child, parent in parents.items() if parent in found and child not in found}:
        found |= new
    return {own: titles.get(own, "") for own in found}


@contextlib.contextmanager
def running(asked: list[str]) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A run, and what it has said when the block is left."""
    said: list[str] = []
    with subprocess.Popen(asked, stderr=subprocess.PIPE, text=True, env=environment()) as process:
        reader = threading.Thread(target=lambda: said.append(process.stderr.read()), daemon=True)  # type: ignore[union-attr]
        reader.start()
        yield process, said
        reader.join(5)


def watched(asked: list[str], every: float) -> tuple[str, float, list[dict[str, Any]]]:
    """A run, its seconds, and the memory of driver and workers over time."""
    begun = time.monotonic()
    samples: list[dict[str, Any]] = []
    with running(asked) as (process, said):
        while process.poll() is None:
            titles = family(process.pid)
            workers = [own for own, title in titles.items() if "RayWorker" in title or "spawn_main" in title]
            memory = {
                "driver": round(measuring.resident(process.pid)),
                "workers": sorted(round(measuring.resident(w)) for w in workers),
            }
            samples.append({"seconds": round(time.monotonic() - begun), **memory})
            time.sleep(every)
        seconds = time.monotonic() - begun
    if process.returncode:
        sys.exit("".join(said))
    return "".join(said), seconds, samples


def pace(files: int) -> dict[str, Any]:
    """One process and Ray on the same files: seconds, memory, the same bytes."""
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "in")
        words = make_tree(source, files)
        rows = {}
        for name, options in (("one process", ()), ("--ray --jobs 2", ("--ray", "--jobs", 2))):
            out = Path(place, name.replace(" ", ""))
            said, seconds, samples = watched(command(source, out, *options), 3.0)
            rows[name] = {
                "seconds": round(seconds, 1),
                "words_per_second": round(words / seconds),
                "files_per_second": round(files / seconds, 1),
                "table": [line for line in said.splitlines() if re.match(r"cappunc: (files|words|node)", line)],
                "memory_mb": thinned(samples, 30),
            }
        one, other = (contents(Path(place, name.replace(" ", ""))) for name in rows)
        same = one == other and len(one) == files
    return {"files": files, "words": words, "runs": rows, "same_bytes": same}


def thinned(samples: list[Any], most: int) -> list[Any]:
    return samples[:: max(-(-len(samples) // most), 1)]


@contextlib.contextmanager
def s3_server(share: float, port: int = 5077) -> Iterator[tuple[str, Counter[str]]]:
    """moto's S3, of whose requests a share fails with 503 or takes a second; its address, and what was asked."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    inner = DomainDispatcherApplication(create_backend_app)
    chance = Random(1)
    asked: Counter[str] = Counter()
    lock = threading.Lock()

    def app(environ: dict[str, Any], start: Any) -> Any:
        with lock:
            dice = chance.random()
            asked[environ["REQUEST_METHOD"]] += 1
            kind = "failed" if dice < share / 2 else "slow" if dice < share else ""
            asked[kind] += bool(kind)
        if kind == "failed":
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start("503 Slow Down", [("Content-Type", "application/xml")])
            return [b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"]
        if kind == "slow":
            time.sleep(1)
        return inner(environ, start)

    server = make_server("127.0.0.1", port, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}", asked
    finally:
        server.shutdown()


def s3(files: int, share: float = 0.05) -> dict[str, Any]:
    """An S3 server as source and target, by one process and on Ray: the bytes are those from a disk."""
    import logging

    import boto3

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
    os.environ |= keys
    rows = {}
    with tempfile.TemporaryDirectory() as place:
        source, out = Path(place, "in"), Path(place, "out")
        make_tree(source, files)
        local, _ = run(command(source, out))
        assert local.returncode == 0, local.stderr
        expected = contents(out)
        # The server keeps its buckets from one to the other.
        for name, failing, old, new in (
            ("no requests fail", 0.0, "old-1", "new-1"),
            ("5 % fail or take a second", share, "old-2", "new-2"),
        ):
            options = ("--ray", "--jobs", 1)
            with s3_server(failing) as (address, asked):
                client = boto3.client("s3", endpoint_url=address)
                for bucket in (old, new):
                    tried(client.create_bucket, Bucket=bucket)
                for relative, data in contents(source).items():
                    tried(client.put_object, Bucket=old, Key=relative, Body=data)
                asked.clear()
                extra = {**keys, "AWS_ENDPOINT_URL": address}
                done, seconds = run(command(f"s3://{old}/", f"s3://{new}/", *options), extra)
                requests = dict(asked)
                again, _ = run(command(f"s3://{old}/", f"s3://{new}/", *options), extra)
                found = {}
                for page in client.get_paginator("list_objects_v2").paginate(Bucket=new):
                    for entry in page["Contents"]:
                        found[entry["Key"]] = tried(client.get_object, Bucket=new, Key=entry["Key"])["Body"].read()
                results = {key: data for key, data in found.items() if not key.startswith(".cappunc/")}
            rows[name] = {
                "seconds": round(seconds, 1),
                "requests": requests,
                "exit_code": done.returncode,
                "table": [
                    line for line in done.stderr.splitlines() if re.match(r"cappunc: (files|words|failed)", line)
                ],
                "same_bytes_as_from_disk": results == expected,
                "second_run": [line for line in again.stderr.splitlines() if line.startswith("cappunc: files")],
            }
            print(json.dumps(rows[name], indent=1), flush=True)
    return {"files": files, "server": "moto", "runs": rows}


def tried(request: Callable[..., Any], **options: Any) -> Any:
    """The result of a request of this script's own, which may meet a failure that it has asked for."""
    for attempt in range(20):
        try:
            return request(**options)
        except Exception:
            if attempt == 19:
                raise
            time.sleep(0.1)
    return None


def kills(count: int, files: int, seed: int = 0) -> dict[str, Any]:
    """One run after the other is hit; the next one goes on, until all is done, and then a new tree is begun."""
    rows: list[dict[str, Any]] = []
    failures: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        source, whole = Path(place, "in"), Path(place, "whole")
        make_tree(source, files, 60)
        undisturbed, _ = run(command(source, whole))
        assert undisturbed.returncode == 0, undisturbed.stderr
        expected = contents(whole)
        out = Path(place, "out")
        asked = command(source, out, "--ray", "--jobs", 1, files_together=4)
        number = 0
        while len(rows) < count:
            chance = Random(seed + number)
            victim = ("worker", "driver", "node")[number % 3]
            before = contents(out) if out.exists() else {}
            wanted = len(before) + chance.randrange(0, max((files - len(before)) // 2, 1))
            row = {"number": number, "victim": victim, "after": wanted, **strike(asked, out, victim, wanted, chance)}
            number += 1
            if not row["hit"] and row["ended"].startswith("exit"):
                sys.exit(row["ended"])  # Ray does not start here
            there = contents(out) if out.exists() else {}
            row["there"] = len(there)
            wrong = [name for name, data in there.items() if expected.get(name) != data]
            failures += [f"{row['number']} {victim}: {name} is another" for name in wrong]
            if row["to_do"] is not None and row["to_do"] != files - len(before):
                failures.append(f"{row['number']}: {len(before)} of {files} were there, and {row['to_do']} to do")
            if len(there) == files or row["ended"] == "done":
                failures += finished(asked, out, expected, row["number"])
                shutil.rmtree(out)
            if row["hit"]:
                rows.append(row)
                save("kills", killed(files, rows, failures))
            print(json.dumps(row), failures, flush=True)
        if out.exists():
            failures += finished(asked, out, expected, number)
    return killed(files, rows, failures)


def killed(files: int, rows: list[dict[str, Any]], failures: list[str]) -> dict[str, Any]:
    hits = dict(Counter(row["victim"] for row in rows))
    return {"files": files, "kills": rows, "by_victim": hits, "failures": failures}


def strike(asked: list[str], out: Path, victim: str, wanted: int, chance: Random) -> dict[str, Any]:
    """Run until there are so many results, then kill; how it ended."""
    with running(asked) as (process, said):
        hit = 0
        members: dict[int, str] = {}
        while process.poll() is None:
            members = family(process.pid)
            workers = [own for own, title in members.items() if "RayWorker" in title]
            if workers and (sum(1 for _ in out.rglob("*.*")) if out.exists() else 0) >= wanted:
                time.sleep(chance.uniform(0, 0.3))
                node = [
                    own for own, title in members.items() if "raylet" in title.split(" ")[0] or "RayWorker" in title
                ]
                victims = {"worker": [chance.choice(workers)], "driver": [process.pid], "node": node}[victim]
                for own in victims:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(own, signal.SIGKILL)
                        hit += 1
                break
            time.sleep(0.02)
        try:
            process.wait(300)
        except subprocess.TimeoutExpired:
            process.kill()
        left_alone(members, process.pid)
    text = "".join(said)
    found = re.search(r"([\d,]+) of [\d,]+ files to do", text)
    ended = {0: "done", -9: "killed"}.get(process.returncode, f"exit code {process.returncode}")
    if ended.startswith("exit"):
        ended += f": {text.strip().splitlines()[-1] if text.strip() else ''}"
    return {"hit": hit, "ended": ended, "to_do": int(found[1].replace(",", "")) if found else None}


def left_alone(members: dict[int, str], driver: int) -> None:
    """Ray's processes end with their driver, in a while; the next run waits for no port of theirs."""
    deadline = time.monotonic() + 60
    others = [own for own in members if own != driver]
    while time.monotonic() < deadline and any(Path(f"/proc/{own}").exists() for own in others):
        time.sleep(0.2)
    for own in others:
        with contextlib.suppress(ProcessLookupError):
            os.kill(own, signal.SIGKILL)


def finished(asked: list[str], out: Path, expected: dict[str, bytes], number: int) -> list[str]:
    """What is wrong after the command has come to its end, and once more."""
    done, _ = run(asked)
    wrong = [] if done.returncode == 0 else [f"{number}: the same command failed: {done.stderr[-300:]}"]
    found = contents(out)
    wrong += [
        f"{number}: {name} is missing, too much or another" for name in expected if found.get(name) != expected[name]
    ]
    wrong += [f"{number}: {name} is too much" for name in found.keys() - expected.keys()]
    lines = [
        json.loads(line) for part in (out / ".cappunc").glob("*-*.jsonl") for line in part.read_text().splitlines()
    ]
    wrong += [f"{number}: {name} is in no record" for name in expected.keys() - {line["file"] for line in lines}]
    left = [path.name for path in out.rglob(".cappunc-*.tmp")]
    return wrong + [f"{number}: {name} is left behind" for name in left]


def hang() -> dict[str, Any]:
    """Among twenty files one stops its worker's process for ever, one is a line of two gigabytes."""
    rows = {}
    with tempfile.TemporaryDirectory() as place:
        source, out = Path(place, "in"), Path(place, "out")
        make_tree(source, 20)
        with (source / "long.txt").open("wb") as file:
            for _ in range(2048):
                file.write(b"hello " * 174763)
        (source / "stop.txt").write_text("stop here\n")
        (Path(place) / "sitecustomize.py").write_text(
            "import os, sys, time\n"
            "if 'default_worker' in ' '.join(sys.orig_argv):\n"
            "    from cappunc_cli.files.fixer import FixRequest\n"
            "    true = FixRequest.read\n"
            "    def read(self, text, name):\n"
            "        if name.endswith('stop.txt'): time.sleep(10**6)\n"
            "        return true(self, text, name)\n"
            "    FixRequest.read = read\n"
        )
        extra = {"PYTHONPATH": f"{place}{os.pathsep}{ROOT}"}
        for name, memory in (("2 GB are more than --file-memory", 1024), ("2 GB are read", 3072)):
            options = ("--ray", "--jobs", 1, "--file-timeout", 60, "--file-memory", memory)
            done, seconds = run(command(source, out, *options), extra)
            report = [json.loads(line) for line in (out / ".cappunc/refused.jsonl").read_text().splitlines()]
            rows[name] = {
                "seconds": round(seconds, 1),
                "exit_code": done.returncode,
                "refused": {Path(entry["file"]).name: entry["reason"] for entry in report},
                "results": len(contents(out)),
            }
            save("hang", {"files": 22, "runs": rows})
            print(json.dumps(rows[name], indent=1), flush=True)
            shutil.rmtree(out)
    return {"files": 22, "runs": rows}


def save(part: str, made: dict[str, Any]) -> None:
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    known[part] = {**measuring.head(), "load": round(os.getloadavg()[0], 1), **made}
    RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("pace", "s3", "kills", "hang"))
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    made = {
        "pace": lambda: pace(asked.files),
        "s3": lambda: s3(asked.files),
        "kills": lambda: kills(asked.count, asked.files, asked.seed),
        "hang": hang,
    }[asked.part]()
    save(asked.part, made)
    print(json.dumps({key: value for key, value in made.items() if key != "runs"}, indent=1)[:3000])


if __name__ == "__main__":
    main()
