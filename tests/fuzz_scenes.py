"""Fuzz `cappunc fix` and `stream` with files, directories and pipes in odd states.

    python tests/fuzz_scenes.py --count 3000 --workers 5 --report       adds the results to fuzz.json and fuzz.md
    python tests/fuzz_scenes.py --only edited:17                        one scene again

A scene is named by its kind and a number. Commands run in this process, with random labels in place of a
model. Checked for each: no bug and no traceback; every line on standard error is one of ours, without control
characters; no temporary file is left; no file changes but the one to be written, and that only in marks and
case (`fuzz_oracle`), keeping its owner, mode, attributes and access list.
"""

from __future__ import annotations

import argparse
import builtins
import json
import os
import re
import stat
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import kills
from fuzz import HERE, Seed, add_to_report, build, relabelled, seeds
from fuzz_oracle import MARKS, assert_same
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.document.words import Document
from cappunc_cli.errors import CappuncError
from cappunc_cli.features.stream.live_text import LiveInput, LiveOutput
from cappunc_cli.files.encodings import decode
from cappunc_cli.files.fixer import Fixer
from cappunc_cli.languages import language

TINY = HERE / "tiny_model"
#: Parts of file names.
NAMES = (
    "talk",
    "\x1b[31m",
    "\n",
    "\r",
    "\t",
    " ",
    "-",
    "--force",
    "\udcff",
    "é",
    "e\u0301",
    "你好",
    "'",
    "$(x)",
    "\u202e",
    "*",
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class Scene:
    """A directory with one file in it, and the result of a run on it."""

    def __init__(self, place: Path, seed: Seed, random: Random) -> None:
        self.place, self.seed, self.random = place, seed, random
        self.suffix = Path(seed.name).suffix or ".txt"
        self.talk = self.file(f"talk{self.suffix}")
        #: What happens while the model runs.
        self.meanwhile: Callable[[], object] = lambda: None
        self.code, self.said = 0, ""

    def file(self, name: str) -> Path:
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.seed.data)
        return path

    def fix(self, *arguments: str | Path) -> None:
        """Run `cappunc fix`, and assert what holds for every run."""
        scene = self

        def guessed(_fixer: Fixer, documents: Sequence[Document], _progress: object = None) -> Iterator[list[str]]:
            scene.meanwhile()
            return iter([relabelled(document.words, scene.random) for document in documents])

        command = ["fix", "--model", str(TINY), "--device", "cpu", *map(str, arguments)]
        with mock.patch.object(Fixer, "restore", guessed):
            run = CliRunner().invoke(app, command)
        assert run.exception is None or isinstance(run.exception, (SystemExit, CappuncError)), repr(run.exception)
        self.code, self.said = run.exit_code, f"{run.stderr}{run.exception or ''}"
        assert "this is a bug" not in self.said, self.said
        for line in run.stderr.splitlines():
            assert not _CONTROL.search(line), f"a control character in {line!r}"
            assert line.startswith("cappunc: ") or self.code == 2, f"not one of our lines: {line!r}"
        left = list(self.place.rglob(".cappunc-*.tmp"))
        assert not left, f"left behind: {left}"

    def is_refused(self) -> bool:
        """Whether the run reported an error."""
        return self.code != 0

    def kept(self, path: Path, found: dict[str, Any]) -> None:
        """Assert that a file has not changed."""
        now = state(path)
        assert now == found, f"{path.name!r} has changed: {[key for key in found if now.get(key) != found[key]]}"

    def fixed(self, path: Path, source: bytes | None = None) -> None:
        """Assert that a file differs from the source in marks and case only."""
        text, encoding = decode(self.seed.data if source is None else source)
        body = path.read_bytes()[len(encoding.bom) :]
        assert_same(_format(text, self.seed.name), text, body.decode(encoding.codec, encoding.errors))

    def written(self, target: Path) -> None:
        """Assert that a target exists and is right, or that the run reported an error."""
        if target.is_file():
            self.fixed(target)
        else:
            assert self.is_refused() or not self.seed.data, f"neither {target.name!r} nor an error: {self.said}"


def _format(text: str, name: str) -> str:
    from cappunc_cli import formats

    return formats.recognise(text, name).format


def state(path: Path) -> dict[str, Any]:
    """The state of a file: bytes, inode, owner, mode, attributes."""
    found = path.lstat()
    plain = stat.S_ISREG(found.st_mode)
    return {
        "bytes": path.read_bytes() if plain else b"",
        "number": found.st_ino,
        "link": str(path.readlink()) if path.is_symlink() else "",
        **attributes(path),
    }


def attributes(path: Path) -> dict[str, Any]:
    found = path.stat(follow_symlinks=False)
    extended = {}
    if not path.is_symlink():
        extended = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    return {"owner": (found.st_uid, found.st_gid), "mode": stat.S_IMODE(found.st_mode), "extended": extended}


def names(scene: Scene) -> None:
    """A file with any name: in place, to a directory, in a tree, and with --diff."""
    random = scene.random
    name = "".join(random.choices(NAMES, k=random.randint(1, 4)))[:60] + scene.suffix
    folder = "".join(random.choices([n for n in NAMES if n != " "], k=2))
    try:
        path = scene.file(f"in{folder}/{name}")
    except OSError:
        return
    out = scene.place / f"out{folder}"
    match random.randrange(4):
        case 0:
            scene.fix("--in-place", path)
            scene.written(path)
        case 1:
            scene.fix(path, "-o", f"{out}/")
            scene.written(out / name)
        case 2:
            scene.fix(path.parent, "-o", out)
            scene.written(out / name)
            before = state(out / name) if (out / name).is_file() else None
            scene.fix(path.parent, "-o", out)
            if before is not None:
                scene.kept(out / name, before)
        case _:
            scene.fix("--diff", path)
            assert path.read_bytes() == scene.seed.data


def directories(scene: Scene) -> None:
    """A directory where a file is expected, or a file in place of a directory."""
    out = scene.place / "out"
    match scene.random.randrange(5):
        case 0:  # the result's name
            (out / scene.talk.name).mkdir(parents=True)
            scene.fix(scene.talk, "-o", f"{out}/", *scene.random.choice(((), ("--force",))))
            assert scene.is_refused()
            assert (out / scene.talk.name).is_dir()
        case 1:  # the record's
            (scene.place / "in").mkdir()
            scene.talk.rename(scene.place / "in" / scene.talk.name)
            scene.talk = scene.place / "in" / scene.talk.name
            (out / ".cappunc.jsonl").mkdir(parents=True)
            scene.fix(scene.place / "in", "-o", out)
            assert scene.is_refused()
            assert not (out / scene.talk.name).exists()
        case 2:  # the output directory's
            out.write_bytes(b"mine")
            scene.fix(scene.talk, "-o", f"{out}/")
            assert scene.is_refused()
            assert out.read_bytes() == b"mine"
        case 3:  # a directory with the name of a file, and one in it
            scene.talk.unlink()
            scene.talk.mkdir()
            inner = scene.file(f"{scene.talk.name}/inner{scene.suffix}")
            scene.fix("--in-place", scene.talk)
            scene.fixed(inner)
        case _:  # a directory above the result
            out.mkdir()
            (out / "sub").write_bytes(b"mine")
            scene.file(f"in/sub/talk{scene.suffix}")
            scene.fix(scene.place / "in", "-o", out)
            assert scene.is_refused()
            assert (out / "sub").read_bytes() == b"mine"


def edited(scene: Scene) -> None:
    """The file, or the one at the result's name, is changed or replaced while the model runs."""
    random, talk = scene.random, scene.talk
    found = talk.stat()
    theirs = scene.seed.data + b"more" if random.random() < 0.5 else bytes(reversed(scene.seed.data))

    def write(path: Path) -> None:
        path.write_bytes(theirs)
        if random.random() < 0.5:  # so that the time does not reveal the change
            os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

    def swap() -> None:
        other = scene.place / "other"
        write(other)
        other.replace(talk)

    if random.random() < 0.3:
        target = scene.place / f"result{scene.suffix}"
        scene.meanwhile = lambda: write(target)
        scene.fix(talk, "-o", target)
        assert talk.read_bytes() == scene.seed.data
        if target.exists():
            assert target.read_bytes() == theirs or scene.seed.data in (b"", theirs) or scene.is_refused()
        return
    wanted: bytes | None
    did = random.randrange(5)
    match did:
        case 0:
            scene.meanwhile, wanted = lambda: write(talk), theirs
        case 1:
            scene.meanwhile, wanted = swap, theirs
        case 2:
            scene.meanwhile, wanted = talk.unlink, None
        case 3:
            scene.meanwhile, wanted = lambda: (talk.unlink(), talk.mkdir()), None
        case _:
            elsewhere = scene.file("elsewhere")
            elsewhere.write_bytes(theirs)
            scene.meanwhile, wanted = lambda: (talk.unlink(), talk.symlink_to(elsewhere)), theirs
    called: list[bool] = []
    meddle = scene.meanwhile

    def once() -> None:
        if not called:
            called.append(True)
            meddle()

    scene.meanwhile = once
    scene.fix("--in-place", talk)
    if not called:  # refused before the model ran
        assert scene.is_refused()
    elif wanted is None:
        assert not talk.is_file(), "a removed file was written again"
    elif theirs != scene.seed.data:
        assert talk.read_bytes() == wanted, "an edit was lost"


def links(scene: Scene) -> None:
    """Hard links, and symbolic links within and out of the tree, dangling and circular."""
    random, talk = scene.random, scene.talk
    tree = scene.place / "tree"
    inside = scene.file(f"tree/inside{scene.suffix}")
    link = tree / f"link{scene.suffix}"
    match random.randrange(6):
        case 0:
            link.hardlink_to(inside)
            scene.fix("--in-place", inside)
            assert inside.read_bytes() == link.read_bytes() == scene.seed.data
            assert inside.samefile(link)
        case 1:
            link.symlink_to(talk)
            scene.fix("--in-place", tree)
            assert talk.read_bytes() == scene.seed.data, "written out of the tree"
            assert link.is_symlink()
            scene.fixed(inside)
        case 2:
            link.symlink_to(talk)
            scene.fix("--in-place", link)
            assert link.is_symlink()
            scene.fixed(talk)
        case 3:
            link.symlink_to(inside.name)
            scene.fix("--in-place", tree)
            assert link.is_symlink()
            scene.fixed(inside)
        case 4:
            link.symlink_to(random.choice((link.name, "nowhere", "/nowhere/at/all")))
            scene.fix(random.choice((tree, link)), "--in-place")
            assert link.is_symlink()
            scene.fixed(inside)
        case _:  # the result's name is a link
            out = scene.place / "out"
            out.mkdir()
            target = out / talk.name
            target.symlink_to(random.choice((talk, inside, out / "nowhere")))
            scene.fix(talk, "-o", f"{out}/")
            assert talk.read_bytes() == inside.read_bytes() == scene.seed.data
            assert target.is_symlink()


def owners(scene: Scene) -> None:
    """A file of another owner, with attributes and an access list, which the result in place must have, too."""
    random, talk = scene.random, scene.talk
    if random.random() < 0.3:
        _grant(scene.place, "default", random)
    if os.geteuid() == 0 and random.random() < 0.7:
        os.chown(talk, random.randrange(60_000), random.randrange(60_000))
    talk.chmod(random.choice((0o600, 0o640, 0o644, 0o666, 0o755, 0o4755, 0o2644, 0o1644)))
    for _ in range(random.randrange(4)):
        os.setxattr(talk, f"user.{random.randrange(100)}", random.randbytes(random.randrange(200)))
    if random.random() < 0.6:
        _grant(talk, "access", random)
    before = attributes(talk)
    scene.fix("--in-place", talk)
    assert attributes(talk) == before, f"{before}, {attributes(talk)}"
    scene.fixed(talk)


def _grant(path: Path, kind: str, random: Random) -> None:
    """Set an access list as an extended attribute: owner, a user, group, a group, mask, others."""
    users = random.randrange(1, 60_000), random.randrange(1, 60_000)
    none = 0xFFFFFFFF
    entries = [(1, 6, none), (2, 4, users[0]), (4, 4, none), (8, 6, users[1]), (16, 6, none), (32, 0, none)]
    packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
    os.setxattr(path, f"system.posix_acl_{kind}", packed)


def folding(scene: Scene) -> None:
    """A file system that ignores case, simulated by `ignoring_case`: two names of one file, two files of one name."""
    random = scene.random
    upper = scene.talk.name.upper()
    match random.randrange(4):
        case 0:  # two files of a tree would become one
            for name in ("Talk", "talk", "TALK"):
                scene.file(f"in/{name}{scene.suffix}")
            out = scene.place / "out"
            with ignoring_case(out):
                scene.fix(scene.place / "in", "-o", out)
                again = state(out / scene.talk.name) if (out / scene.talk.name).exists() else None
                assert scene.is_refused(), "two results became one"
                scene.fix(scene.place / "in", "-o", out)
                if again is not None:
                    scene.kept(out / scene.talk.name, again)
        case 1:
            with ignoring_case(scene.place):
                scene.fix("--in-place", scene.talk, scene.place / upper)
            scene.fixed(scene.talk)
            assert len(list(scene.place.iterdir())) == 1
        case 2:
            with ignoring_case(scene.place):
                scene.fix(scene.talk, "-o", scene.place / upper, *random.choice(((), ("--force",))))
                assert scene.is_refused()
            assert scene.talk.read_bytes() == scene.seed.data
        case _:  # results in the tree are not inputs, however their directory is spelled
            (scene.place / "Fixed").mkdir()
            with ignoring_case(scene.place):
                for _ in range(2):
                    scene.fix(scene.place, "-o", scene.place / "FIXED")
            assert not (scene.place / "Fixed" / "Fixed").exists()
            assert {path.name for path in (scene.place / "Fixed").iterdir()} <= {scene.talk.name, ".cappunc.jsonl"}


@contextmanager
def ignoring_case(root: Path) -> Iterator[None]:
    """Names below `root` are found regardless of case, as on Windows and macOS."""

    def real(path: Any) -> Any:
        if not isinstance(path, (str, Path)) or not Path(path).is_relative_to(root):
            return path
        found = root
        for part in Path(path).relative_to(root).parts:
            try:
                there = listdir(found)
            except OSError:
                there = []
            found /= next((name for name in there if name.casefold() == part.casefold()), part)
        return str(found) if isinstance(path, str) else found

    listdir = os.listdir
    one = ("open", "stat", "lstat", "unlink", "mkdir", "rmdir", "access", "readlink", "chmod", "chown", "scandir")
    one += ("listxattr", "getxattr", "setxattr", "removexattr", "listdir", "utime")
    patches = [mock.patch.object(os, name, _through(getattr(os, name), real, 1)) for name in one]
    patches += [
        mock.patch.object(os, name, _through(getattr(os, name), real, 2)) for name in ("replace", "rename", "link")
    ]
    patches += [
        mock.patch.object(module, "open", _through(builtins.open, real, 1)) for module in (builtins, sys.modules["io"])
    ]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def _through(function: Callable[..., Any], real: Callable[[Any], Any], paths: int) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        return function(*map(real, arguments[:paths]), *arguments[paths:], **named)

    return call


def pipes(scene: Scene) -> None:
    """A pipe in a tree, which nobody writes to, and a device in place of the result."""
    tree = scene.place / "tree"
    inside = scene.file(f"tree/inside{scene.suffix}")
    os.mkfifo(tree / f"pipe{scene.suffix}")
    if scene.random.random() < 0.5:
        scene.fix("--in-place", tree)
        scene.fixed(inside)
        assert scene.is_refused()
    else:
        scene.fix(inside, "-o", "/dev/null")
        assert inside.read_bytes() == scene.seed.data


def stream(scene: Scene) -> None:
    """Input of `stream` in blocks of any size: each word is written once, in order, as the same word."""
    from cappunc_cli.restoration.live import LiveRestorer
    from cappunc_cli.restoration.pipeline import load_model

    global _model
    _model = _model or load_model(str(TINY), "cpu")
    random = scene.random
    text = decode(scene.seed.data)[0]
    words = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").split()[:80]
    as_json = random.random() < 0.4
    if as_json:
        rows = [
            {"word": w, "start": i / 2, "x": random.choice(MARKS)}
            for i, w in enumerate(words)
            if any(map(str.isalnum, w))
        ]
        data = "".join(json.dumps(row, ensure_ascii=random.random() < 0.5) + "\n" for row in rows).encode()
    else:
        gaps = random.choices((" ", "\n", "\n\n", "  ", "\t", "\r\n", "\u3000", "\xa0", "\x1d"), k=len(words))
        data = "".join(w + gap for w, gap in zip(words, gaps, strict=True)).encode()
        data = data + random.choice((b"", b"\xff", b"\xc3", b"last"))
    wrote: list[str] = []
    errors: list[object] = []
    source = LiveInput(errors.append)
    output = LiveOutput(LiveRestorer(_model, None, random.randrange(9)), language("en"), None, wrote.append)
    at = 0
    while at < len(data):
        size = random.choice((1, 2, 3, 7, 40, 1000))
        for piece in source.pieces(data[at : at + size]):
            output.take(piece)
        at += size
    for piece in source.rest(False):
        output.take(piece)
    output.end()
    found = "".join(wrote)
    said = data.decode("utf-8", "surrogateescape")
    if as_json and data:
        assert not errors, errors
        assert_same("json", said, found)
    elif said.lstrip()[:1] != "{":
        assert_same("txt", " ".join(said.removeprefix("\ufeff").split()), " ".join(found.split()))


_model: Any = None

SCENES: dict[str, Callable[[Scene], None]] = {
    scene.__name__: scene for scene in (names, directories, edited, links, owners, folding, pipes, stream)
}


def run_one(kind: str, number: int, known: Any) -> str | None:
    """Run a scene; returns what is wrong, or None."""
    random = Random(f"{kind}:{number}")
    while True:
        seed = _seed(known, random)
        if seed is not None:
            break
    with tempfile.TemporaryDirectory(dir=_fast()) as place:
        try:
            SCENES[kind](Scene(Path(os.path.realpath(place)), seed, random))
        except Exception as error:
            return f"{seed.path}: {type(error).__name__}: {str(error)[:300]}"
    return None


def _fast() -> str | None:
    """A directory in memory, if there is one, so that files need not wait for a disk."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: PTH112


def _seed(known: Any, random: Random) -> Seed | None:
    """A file that can be read, or None, as the others are the business of fuzz.py."""
    chosen, number = known.input(random.randrange(1 << 20))
    seed = build(known, 0, chosen, number) if random.random() < 0.5 else chosen
    from cappunc_cli import formats

    try:
        text, _ = decode(seed.data)
        if not formats.read(text, seed.name).words:
            return None
    except CappuncError:
        return None
    known_suffix = any(Path(seed.name).suffix.lower() in module.suffixes for module in formats.FORMATS.values())
    return seed if known_suffix and len(seed.data) < 20_000 else None


def killed_workers(count: int) -> list[str]:
    """Run with several processes, kill one of them, and return what is wrong."""
    failures = []
    with tempfile.TemporaryDirectory() as place:
        source, whole = Path(place, "in"), Path(place, "whole")
        kills.make_tree(source, 60)
        assert kills.run(source, whole, 1).returncode == 0
        expected = kills.contents(whole)
        for number in range(count):
            random = Random(f"worker:{number}")
            kill = kills.Kill(3, "worker", kills.signal.SIGKILL, random.randrange(30), random.uniform(0, 0.1))
            ended, wrong = kills.check(kill, source, Path(place, f"out{number}"), expected)
            failures += [f"worker:{number}: {ended}: {line}" for line in wrong]
    return failures


def scenes(count: int, first: int = 0) -> tuple[Counter[str], list[str]]:
    """Run `count` scenes, the kinds in turn; returns how many of each, and what is wrong."""
    known = seeds(samples=False)
    counted: Counter[str] = Counter()
    failures = []
    for place in range(first, first + count):
        number, which = divmod(place, len(SCENES))
        kind = list(SCENES)[which]
        counted[kind] += 1
        wrong = run_one(kind, number, known)
        if wrong is not None:
            failures.append(f"{kind}:{number} {wrong}")
            print(failures[-1], file=sys.stderr, flush=True)
    return counted, failures


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=800)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="also N runs that lose a worker process")
    parser.add_argument("--only", metavar="KIND:NUMBER")
    parser.add_argument("--report", action="store_true", help="add the results to fuzz.json and fuzz.md")
    options = parser.parse_args(arguments)
    if options.only is not None:
        kind, _, number = options.only.rpartition(":")
        print(run_one(kind, int(number), seeds(samples=False)))
        return 0
    started = time.monotonic()
    counted, failures = scenes(options.count, options.first)
    if options.workers:
        counted["workers"] = options.workers
        failures += killed_workers(options.workers)
    report = {
        "command": "python tests/fuzz_scenes.py " + " ".join(sys.argv[1:]),
        "seconds": round(time.monotonic() - started),
        "kinds": dict(counted),
        "failures": failures,
    }
    if options.report:
        add_to_report({"scenes": report})
    print(json.dumps(report, indent=2))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
