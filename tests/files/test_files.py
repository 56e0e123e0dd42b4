from __future__ import annotations

import codecs
import os
import signal
import stat
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cappunc_cli.errors import BadInput, CappuncError
from cappunc_cli.files.encodings import Encoding, decode, encode
from cappunc_cli.files.limited_changes import writable
from cappunc_cli.files.storage import about, write_atomic

CUE = "1\r\n00:00:01,000 --> 00:00:02,000\r\n{}\r\n\r\n"
LEGACY = {
    "cp1252": "el niño comió mañana, ¿qué pasó? el café está aquí",
    "cp1250": "żółta łódź i święta są już za nami, proszę państwa",
    "cp1251": "привет как дела сегодня мы пойдём гулять в парк",
    "gb18030": "我们今天去公园散步，天气很好，大家都很高兴",
    "big5": "我們今天去公園散步，天氣很好，大家都很高興",
}


@given(st.binary())
def test_decoding_and_encoding_are_lossless(data: bytes) -> None:
    try:
        text, encoding = decode(data)
    except BadInput:
        return  # refused, not damaged
    assert encode(text, encoding) == data


@pytest.mark.parametrize(
    ("codec", "said", "second"),
    [("big5", LEGACY["big5"], b"\xa2\xcc"), ("cp932", "今日は公園へ散歩に行きます、天気がいいです", b"\x87\x90")],
)
def test_characters_that_a_code_page_spells_in_two_ways_keep_their_bytes(codec: str, said: str, second: bytes) -> None:
    data = said.encode(codec) * 4
    assert decode(data)[1] == Encoding(codec)
    assert second.decode(codec).encode(codec) != second
    text, encoding = decode(data + second)
    assert encode(text, encoding) == data + second


@given(st.binary(min_size=1).filter(lambda data: b"\0" not in data))
def test_bytes_without_zeros_are_never_refused(data: bytes) -> None:
    if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        decode(data)


@given(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"]),
)
def test_byte_order_marks_say_the_codec(text: str, codec: str) -> None:
    bom = "\ufeff".encode(codec)
    if codec == "utf-16-le" and text.startswith("\0"):
        return  # the four bytes are the mark of UTF-32
    assert decode(bom + text.encode(codec)) == (text, Encoding(codec, bom))


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark(codec: str) -> None:
    text = CUE.format("hello there café")
    assert decode(text.encode(codec)) == (text, Encoding(codec))


@pytest.mark.parametrize("codec", LEGACY)
def test_legacy_code_pages_are_recognised(codec: str) -> None:
    text = CUE.format(LEGACY[codec]) * 4
    assert decode(text.encode(codec)) == (text, Encoding(codec))


def test_a_lone_curly_quote_is_not_japanese() -> None:
    assert decode(b"1\n00:00:01,000 --> 00:00:02,000\nit\x92s mine\n")[0].endswith("it’s mine\n")


def test_letters_of_a_code_page_that_look_like_characters_not_in_unicode_are_not_utf8() -> None:
    text, encoding = decode("ลอนดอน butterfly".encode("cp874"))  # twice U+0379, were it UTF-8
    assert encoding.codec != "utf-8"
    assert encode(text, encoding) == "ลอนดอน butterfly".encode("cp874")


def test_bytes_of_no_known_code_page_have_no_letters_to_change() -> None:
    text, encoding = decode(b"n\xb2a \x81s")
    assert encoding.codec == "ascii"
    assert text.upper() == text.replace("n", "N").replace("a", "A").replace("s", "S")
    assert encode(text.upper(), encoding) == b"N\xb2A \x81S"


@pytest.mark.parametrize("data", [b"\x00\x00\x00\x18ftypmp42\xff\xfe\x80\x00", b"\xff\xfea"])
def test_binary_files_are_refused(data: bytes) -> None:
    with pytest.raises(CappuncError):
        decode(data)


def test_marks_that_the_codec_lacks_are_spelled_in_ascii() -> None:
    assert writable("«да… нет» — “so”", Encoding("cp1251")) == "«да… нет» — “so”"
    assert writable("well… no — “so”", Encoding("ascii")) == 'well... no -- "so"'
    assert writable("well…", Encoding("big5")) == "well…"
    assert writable("well… é", Encoding("utf-8")) == "well… é"


def test_a_letter_that_the_codec_lacks_is_refused() -> None:
    with pytest.raises(BadInput, match="cp1251"):
        writable("žena", Encoding("cp1251"))


def test_new_files_get_the_usual_mode(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    write_atomic(tmp_path / "new", b"x")
    assert (tmp_path / "new").stat().st_mode == plain.stat().st_mode


def test_writing_never_touches_the_users_mask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It belongs to all threads: between asking for it and putting it back another one would make files for everybody.
    monkeypatch.setattr(os, "umask", pytest.fail)
    write_atomic(tmp_path / "new", b"x")
    assert (tmp_path / "new").read_bytes() == b"x"


def test_modes_and_links_survive(tmp_path: Path) -> None:
    target, link = tmp_path / "real.srt", tmp_path / "link.srt"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_atomic(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.srt", "real.srt"]


def test_devices_are_written_not_replaced() -> None:
    write_atomic(Path("/dev/null"), b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_read_only_files_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.srt"
    target.write_bytes(b"old")
    # Not by chmod: root may write anywhere.
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    with pytest.raises(PermissionError):
        write_atomic(target, b"new")
    assert target.read_bytes() == b"old"


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.srt"
    target.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as error:
        write_atomic(target, b"new")
    assert str(about(error.value, "input.srt")) == f"{target}: No space left on device"
    assert [p.name for p in tmp_path.iterdir()] == ["a.srt"]
    assert target.read_bytes() == b"old"


def test_errors_of_an_unwritable_directory_name_the_result(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "a.srt"
    with pytest.raises(FileNotFoundError) as error:
        write_atomic(target, b"new")
    assert str(about(error.value, "input.srt")) == f"{target}: No such file or directory"


WRITER = """
import sys
from contextlib import suppress
from pathlib import Path
from cappunc_cli.errors import CappuncError
from cappunc_cli.files.storage import write_atomic
contents = [bytes([65 + i]) * 3_000_000 for i in range(2)]
print(flush=True)
while True:
    for content in contents:
        with suppress(CappuncError, OSError):
            write_atomic(Path(sys.argv[1]), content)
"""


def test_a_killed_writer_never_leaves_a_partial_file(tmp_path: Path) -> None:
    target = tmp_path / "a.srt"
    whole = {b"A" * 3_000_000, b"B" * 3_000_000}
    target.write_bytes(b"A" * 3_000_000)
    for delay in (0.001, 0.006, 0.015, 0.04):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        assert target.read_bytes() in whole
    # What a kill leaves behind is hidden and takes nobody's name, and the next one to write there removes it.
    assert all(p.name.startswith(".cappunc-") for p in tmp_path.iterdir() if p != target)
    write_atomic(target, b"whole")
    assert [p.name for p in tmp_path.iterdir()] == ["a.srt"]


def test_of_two_writers_of_one_file_each_writes_all_or_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a.srt"
    whole = {b"A" * 3_000_000, b"B" * 3_000_000}
    target.write_bytes(b"A" * 3_000_000)
    command = [sys.executable, "-c", WRITER, str(target)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as one, subprocess.Popen(command, stdout=-1) as other:
        for process in (one, other):
            assert process.stdout is not None
            process.stdout.readline()
        found = [target.read_bytes() in whole for _ in range(100)]
        one.kill()
        other.kill()
    assert all(found)
    assert target.read_bytes() in whole


def test_another_target_s_temporary_file_is_left_alone(tmp_path: Path) -> None:
    for name in (".cappunc-mine.tmp", f".cappunc-{'1' * 16}.tmp"):
        (tmp_path / name).write_bytes(b"another run's")
    write_atomic(tmp_path / "a", b"x")
    assert len([*tmp_path.iterdir()]) == 3


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    target = tmp_path / "a.srt"
    target.write_bytes(b"old")
    os.chown(target, 12345, 54321)
    target.chmod(0o640)
    write_atomic(target, b"new")
    found = target.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 54321, 0o640)
    assert target.read_bytes() == b"new"


def test_a_file_whose_owner_cannot_be_kept_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.srt"
    target.write_bytes(b"old")

    stat_of = Path.stat

    class Foreign:
        def __init__(self, path: Path) -> None:
            self.path = path

        def __getattr__(self, name: str) -> object:
            return getattr(stat_of(self.path), name)

        st_uid = 12345

    monkeypatch.setattr(Path, "stat", lambda path, **_: Foreign(path) if path == target else stat_of(path))

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refuse)
    with pytest.raises(CappuncError, match="belongs to another user or group") as error:
        write_atomic(target, b"new")
    assert error.value.path == str(target)
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.srt"]


#: Owner rw, user 7 rw, group r, mask rw, others none: as `setfacl -m u:7:rw` makes it of mode 0640.
ACCESS = struct.pack("<I" + "HHI" * 5, 2, 1, 6, 2**32 - 1, 2, 6, 7, 4, 4, 2**32 - 1, 16, 6, 2**32 - 1, 32, 0, 2**32 - 1)


@pytest.mark.skipif(sys.platform != "linux", reason="Python knows extended attributes on Linux alone")
@pytest.mark.parametrize(("name", "value"), [("user.note", b"checked"), ("system.posix_acl_access", ACCESS)])
def test_extended_attributes_and_access_lists_stay(tmp_path: Path, name: str, value: bytes) -> None:
    target = tmp_path / "a.srt"
    target.write_bytes(b"old")
    target.chmod(0o640)
    attribute_or_skip(target, name, value)
    mode = target.stat().st_mode
    write_atomic(target, b"new")
    assert (os.getxattr(target, name), target.stat().st_mode, target.read_bytes()) == (value, mode, b"new")


@pytest.mark.skipif(sys.platform != "linux", reason="Python knows extended attributes on Linux alone")
def test_default_acls_of_a_directory_grant_no_new_access(tmp_path: Path) -> None:
    target = tmp_path / "a.srt"
    target.write_bytes(b"old")
    target.chmod(0o600)
    attribute_or_skip(tmp_path, "system.posix_acl_default", ACCESS)
    write_atomic(target, b"new")
    assert "system.posix_acl_access" not in os.listxattr(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="Python knows extended attributes on Linux alone")
def test_a_file_whose_attribute_cannot_be_kept_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.srt"
    target.write_bytes(b"old")
    attribute_or_skip(target, "user.note", b"checked")

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setxattr", refuse)
    with pytest.raises(CappuncError, match=r"attribute .* could not be kept"):
        write_atomic(target, b"new")
    assert target.read_bytes() == b"old"


def attribute_or_skip(path: Path, name: str, value: bytes) -> None:
    try:
        os.setxattr(path, name, value)
    except OSError:
        pytest.skip("a file system without attributes")
