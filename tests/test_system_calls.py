"""The system calls of a run, traced with strace: no sockets, and no files written except those that were named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from cappunc_cli.restoration.models.registry import find_model

#: Traces only these calls, so that everything else runs at full speed.
STRACE = ("strace", "-f", "--seccomp-bpf", "-qq", "-s", "4096", "-e", "trace=network,openat")
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")

#: `openat(AT_FDCWD, "talk.fixed.srt", O_WRONLY|O_CREAT, 0666) = 3`
_OPENED = re.compile(r'\bopenat\((?:AT_FDCWD|\d+), "([^"]*)", (O_[A-Z_|]+)')
#: The `network` calls that are between two processes of one run.
_OWN = (
    "socketpair(AF_UNIX",
    "getsockname(",
    "getpeername(",
    "recvfrom(",
    "sendto(",
    "shutdown(",
    "recvmsg(",
    "sendmsg(",
)
#: The C library asks a local service, if there is one, for the user's name, which torch needs for its cache.
_USERS = ("socket(AF_UNIX, SOCK_STREAM|SOCK_CLOEXEC|SOCK_NONBLOCK, 0)", 'sun_path="/var/run/nscd/socket"')
_WRITES = {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}
_OWN_TEMPORARY = re.compile(r"/(?:\.cappunc-[0-9a-f]{16}\.tmp|[0-9a-f]{12}-[0-9a-f]{32}\.jsonl)\Z")


class Run:
    """A command with its own home and temporary directory, where anything left behind is found."""

    def __init__(self, folder: Path) -> None:
        self.work, self.home, self.temporary = folder / "work", folder / "home", folder / "temporary"
        for place in (self.work, self.home, self.temporary):
            place.mkdir()
        self._trace = folder / "trace"

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        strace = [*STRACE, "-o", str(self._trace)]
        names = ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
        surroundings = {name: value for name, value in os.environ.items() if name not in names}
        surroundings |= {"HOME": str(self.home), "TMPDIR": str(self.temporary), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            [*strace, sys.executable, "-m", "cappunc_cli", *arguments],
            cwd=self.work,
            env=surroundings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def finish(self, process: subprocess.Popen[bytes], data: bytes = b"") -> bytes:
        output, said = process.communicate(data)
        assert process.returncode == 0, said.decode()
        return output

    def written(self) -> set[str]:
        """The paths opened for writing; asserts that no socket was opened and that nothing else is left behind."""
        paths = set()
        lines = self._trace.read_text("utf-8", "surrogateescape").splitlines()
        calls = [line.split(None, 1)[1] for line in lines]
        assert any(call.startswith("openat(") for call in calls), "strace saw nothing"
        for call in calls:
            opened = _OPENED.search(call)
            if opened and _WRITES.intersection(opened[2].split("|")) and not self._is_passing(opened[1]):
                paths.add(_OWN_TEMPORARY.sub("/*", f"./{opened[1]}" if "/" not in opened[1] else opened[1]))
            elif not call.startswith(("openat(", "<...", "+++", "---", *_OWN)) and not _asks_for_the_user(call):
                raise AssertionError(call)
        assert not [*self.home.iterdir(), *self.temporary.iterdir()]
        return paths

    def _is_passing(self, path: str) -> bool:
        """Whether nothing of it remains: the null device, temporary files, semaphores (unlinked when created)."""
        return path == os.devnull or path.startswith((f"{self.temporary}/", "/dev/shm/sem."))


def _asks_for_the_user(call: str) -> bool:
    return call.startswith(_USERS[0]) or (call.startswith("connect(") and _USERS[1] in call)


@pytest.fixture
def traced(tmp_path: Path) -> Run:
    return Run(tmp_path)


def long_srt(minutes: int) -> str:
    cue = "{0}\n00:{1:02}:{2:02},000 --> 00:{1:02}:{2:02},900\nhello anna then we went to london\n"
    return "\n".join(cue.format(i + 1, i // 60, i % 60) for i in range(60 * minutes))


@needs_strace
def test_the_trace_shows_a_socket_and_a_file(traced: Run, tmp_path: Path) -> None:
    # A check of the check: it can find a socket and a file.
    code = f"import socket; open({str(tmp_path / 'x')!r}, 'w'); socket.socket()"
    command = [*STRACE, "-o", str(tmp_path / "trace")]
    subprocess.run([*command, sys.executable, "-B", "-c", code], check=True)
    with pytest.raises(AssertionError, match="socket"):
        traced.written()
    trace = (tmp_path / "trace").read_text()
    (tmp_path / "trace").write_text("".join(line for line in trace.splitlines(True) if "AF_INET" not in line))
    assert traced.written() == {str(tmp_path / "x")}


@needs_strace
@pytest.mark.parametrize(
    ("call", "shown", "written"),
    [
        ("fix a.srt -o out/", b"", {"out/*", "out/.cappunc/*"}),
        ("fix --jobs 2 a.srt b.srt -o out/", b"", {"out/*", "out/.cappunc/*"}),
        ("stream", b"Hello", set()),
        ("eval --ref a.srt --html report.html", b"micro", {"./*"}),
    ],
)
def test_commands_write_what_is_named_alone(traced: Run, call: str, shown: bytes, written: set[str]) -> None:
    for name in ("a.srt", "b.srt"):
        (traced.work / name).write_text(long_srt(1).replace("hello", "Hello,"), encoding="utf-8")
    command, *more = call.split()
    process = traced.start(command, "--model", str(find_model("en-fast")), *more)
    assert shown in traced.finish(process, b"hello anna then we went to london\n")
    assert traced.written() == written


@needs_strace
@pytest.mark.parametrize("scheme", ["https", "s3"])
def test_settings_that_came_along_with_files_open_no_connection(traced: Run, scheme: str) -> None:
    (traced.work / "a.txt").write_text("hello anna then we went to london\n", "utf-8")
    (traced.work / "cappunc.toml").write_text(f'glossary = "{scheme}://localhost/terms.txt"\n', "utf-8")
    process = traced.start("fix", "a.txt", "-o", "-")
    _, said = process.communicate()
    assert (process.returncode, said.count(b"\n")) == (2, 1), said
    assert traced.written() == set()


@needs_strace
@pytest.mark.slow
@pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "onnx", "safetensors")),
    reason="needs the extra [train]",
)
def test_train(traced: Run) -> None:
    (traced.work / "a.txt").write_text("Anna sees the door, and then the long road.\n" * 500, encoding="utf-8")
    traced.finish(traced.start("train", "--lang", "xx", "--pieces", "1", "a.txt", "-o", "own"))
    assert (traced.work / "own" / "model.onnx").is_file()
    assert {path.split("/")[0] for path in traced.written()} == {"own"}


@needs_strace
@pytest.mark.slow
def test_a_run_of_more_than_a_minute(traced: Run) -> None:
    # A library may collect telemetry for some time before it sends any.
    process = traced.start("stream", "--model", str(find_model("en-fast")))
    assert process.stdin is not None
    process.stdin.write(b"hello anna then we went to london and so it was\n")
    process.stdin.flush()
    time.sleep(70)
    assert process.poll() is None
    assert b"Hello" in traced.finish(process, b"and then we went home\n")
    assert traced.written() == set()


def test_telemetry_is_switched_off_before_onnxruntime_is_loaded() -> None:
    code = "import os, cappunc_cli; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    surroundings = {**os.environ, "ORT_DISABLE_TELEMETRY": "0"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, env=surroundings, check=True)
    assert run.stdout == b"1" + os.linesep.encode()
