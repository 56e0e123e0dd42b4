"""The page of `cappunc review`: its decisions, its server, and the page itself in a real browser."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from cappunc_cli.cli.main import app
from cappunc_cli.errors import BadInput
from cappunc_cli.features.review import review_server
from cappunc_cli.features.review.decisions import Decision, decided_texts, parse_decisions, sha256
from cappunc_cli.features.review.page import page_bytes
from cappunc_cli.features.review.review_server import ReviewServer, ReviewSession
from cappunc_cli.files.fixer import Fixer, Settings
from cappunc_cli.files.input_files import Job
from cappunc_cli.restore.options import Options

LONG = 20


def film(cues: int = 12) -> tuple[list[str], bytes]:
    """The words of a small film, and its SRT."""
    words = [f"{'Wort' if i % 5 == 0 else 'wort'}{i}{'.' if i % 5 == 4 else ''}" for i in range(4 * cues)]
    blocks = [
        f"{n + 1}\r\n00:00:{2 * n:02},000 --> 00:00:{2 * n + 1:02},900\r\n<i>{words[4 * n]} {words[4 * n + 1]}</i>\r\n"
        f"- {words[4 * n + 2]}  {words[4 * n + 3]} [noise]\r\n"
        for n in range(cues)
    ]
    return words, "\r\n".join(blocks).encode()


@pytest.fixture
def server(tmp_path: Path, tiny_model: Path) -> Iterator[ReviewServer]:
    path = tmp_path / "talk.srt"
    path.write_bytes(film()[1])
    yield from served(path, tiny_model)


def served(path: Path, model: Path, **more: Any) -> Iterator[ReviewServer]:
    fixer = Fixer(Settings(str(model), "cpu", None, Options(language="en")), print)
    with ReviewServer(ReviewSession(Job(str(path), None), fixer, 1.0, **more)) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def asked(
    server: ReviewServer, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LONG)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.headers
    connection.close()
    return found


def decisions(data: bytes, changes: dict[int, tuple[str, str]], **more: str) -> bytes:
    """What the page sends: word (from 0) -> was, text."""
    own = [{"word": i + 1, "was": was, "text": text} for i, (was, text) in changes.items()]
    return json.dumps({"kind": "cappunc review", "sha256": sha256(data), "decisions": own, **more}).encode()


# --- decisions


@pytest.mark.parametrize(
    "text", ["{}", "[]", "x", '{"kind": "cappunc review"}', '{"kind": 1, "sha256": "", "decisions": []}']
)
def test_other_json_is_refused_as_decisions(text: str) -> None:
    with pytest.raises(BadInput, match="not a decision file"):
        parse_decisions(text)


@pytest.mark.parametrize(
    ("was", "text"),
    [
        ("went", "want,"), ("went", "went there"), ("went", "went\n,"), ("went", "went ,"), ("(went)", "went"),
        ("went", "(went)"), ("went", "<b>went"), ("went", ""), ("U.S.", "US."), ("x", "went"), ("went", "w'ent"),
    ],
)  # fmt: skip
def test_nothing_but_marks_and_case_can_be_decided(was: str, text: str) -> None:
    with pytest.raises(BadInput):
        decided_texts(["went" if was == "x" else was], [Decision(0, was, text)])


@pytest.mark.parametrize("number", [-1, 1])
def test_a_word_that_is_not_there_is_refused(number: int) -> None:
    with pytest.raises(BadInput, match=f"word {number + 1} is not “went”"):
        decided_texts(["went"], [Decision(number, "went", "went,")])


def test_a_hundred_random_decisions_change_exactly_their_bytes(tmp_path: Path) -> None:
    words, data = film(60)
    dice = random.Random(7)
    path = tmp_path / "talk.srt"
    path.write_bytes(data)
    changes, wanted, at = {}, b"", 0
    chosen = set(dice.sample(range(len(words)), 100))
    for i, word in enumerate(words):
        place = re.compile(rb"(?<!\w)" + re.escape(word.encode()) + rb"(?!\w)").search(data, at)
        assert place is not None
        new = word
        if i in chosen:
            bare = word.rstrip(".")
            options = {bare, bare.upper(), bare.capitalize()}
            # A colon at the beginning of a line would make a speaker of its words.
            new = dice.choice(sorted({f"{core}{mark}" for core in options for mark in ("", *",.?!;…")} - {word}))
            changes[i] = (word, new)
        wanted += data[at : place.start()] + new.encode()
        at = place.end()
    wanted += data[at:]
    (tmp_path / "d.json").write_bytes(decisions(data, changes))
    run = command("review", "--apply", tmp_path / "d.json", "--in-place", path)
    assert run.stderr == f"cappunc: {path} -> {path}: 100 words changed\n"
    assert path.read_bytes() == wanted
    # They are decisions about the file as it was.
    run = command("review", "--apply", tmp_path / "d.json", "--in-place", path)
    assert path.read_bytes() == wanted
    assert str(run.exception) == f"{path}: was changed since it was reviewed; nothing written"


def test_decisions_that_are_not_read_back_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "talk.srt"
    data = film()[1]
    path.write_bytes(data)
    (tmp_path / "d.json").write_bytes(decisions(data, {2: ("wort2", "Wort2:"), 3: ("wort3", "wort3!")}))
    run = command("review", "--apply", tmp_path / "d.json", path, "-o", tmp_path / "new/talk.srt")
    assert f"{path}: word 3: reads “Wort2,” in the result, not “Wort2:”" in run.stderr
    new = (tmp_path / "new/talk.srt").read_bytes()
    assert new == data.replace(b"wort3 ", b"wort3! ").replace(b"wort2 ", b"Wort2, ")


def command(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.parametrize(
    "arguments",
    [("--html", "a", "--open"), ("--json", "--open"), ("--compare", "b"), ("-o", "x"), ("--apply", "d", "--csv")],
)
def test_options_that_contradict_each_other(arguments: tuple[str, ...], tmp_path: Path) -> None:
    run = command("review", *arguments, tmp_path / "talk.srt")
    assert (run.exit_code, run.stdout) == (2, "")


# --- the page as text, and the server


def test_the_page_loads_nothing_and_escapes_the_text(tmp_path: Path, tiny_model: Path) -> None:
    evil = tmp_path / "</title><script>alert(1)</script>.txt".replace("/", "∕")
    evil.write_text("Hello </script><script>alert(1)</script> {{data}} so there. <!-- Anna", "utf-8")
    run = command("review", "--model", tiny_model, evil, "--html", "-")
    page = run.stdout
    assert run.exit_code == 0
    assert page.count("<script") == 2
    assert page.count("</script>") == 2
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", page)
    assert "connect-src &#x27;none&#x27;" in page
    found = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert found["served"] == ""
    assert found["source"] == evil.read_text("utf-8")
    at = found["texts"].index("so")
    assert found["source"][found["places"][at] :].startswith("so there.")


def test_the_server_requires_its_token(server: ReviewServer) -> None:
    own = f"/{server.token}/"
    status, page, headers = asked(server, "GET", own)
    assert (status, headers["Cache-Control"]) == (200, "no-store")
    assert b"Wort0" in page
    assert not [name for name in headers if name.lower().startswith("access-control")]
    assert asked(server, "GET", "/")[0] == asked(server, "GET", f"/{server.token}x/")[0] == 404
    assert asked(server, "GET", f"{own}etc/passwd")[0] == asked(server, "GET", f"{own}../../x")[0] == 404
    assert asked(server, "GET", own, Host="evil.example")[0] == 403
    assert asked(server, "POST", f"{own}write", b"{}", Origin="http://evil.example")[0] == 403
    assert asked(server, "POST", f"{own}write", b"{}", Content_Type="text/plain")[0] == 415
    for length in ("-1", "\xb2", "64000001", "9" * 5000):
        assert asked(server, "POST", f"{own}write", b"{}", Content_Length=length)[0] == 413
    assert asked(server, "OPTIONS", f"{own}write")[0] == 501
    assert server.server_address[0] == "127.0.0.1"


def test_a_browser_that_breaks_off_leaves_no_trace(server: ReviewServer, capsys: pytest.CaptureFixture[str]) -> None:
    for request in ("GET", "POST"):
        ours, browsers = socket.socketpair()
        head = f"{request} /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n"
        browsers.sendall(head.encode())
        browsers.close()
        server.process_request_thread(ours, ("127.0.0.1", 1))
    assert capsys.readouterr() == ("", "")
    assert asked(server, "GET", f"/{server.token}/")[0] == 200


def test_the_server_checks_each_decision_and_the_file(server: ReviewServer) -> None:
    own, json_ = f"/{server.token}/write", "application/json"
    path = Path(server.session.job.source)
    data = path.read_bytes()

    def write(body: bytes) -> tuple[int, Any]:
        status, answer, _ = asked(server, "POST", own, body, Content_Type=json_)
        return status, json.loads(answer)

    for bad in (b"{}", decisions(data, {0: ("Wort0", "Rat0")}), decisions(data, {99: ("Wort0", "Wort0.")})):
        assert write(bad)[0] == 409
        assert path.read_bytes() == data
    good = decisions(data, {0: ("Wort0", "Wort0,")})
    for _ in range(2):  # what this session has written it may write again
        status, told = write(good)
        assert (status, told["changed"], told["written"]) == (200, 1, str(path.with_name("talk.fixed.srt")))
    assert path.with_name("talk.fixed.srt").read_bytes() == data.replace(b"Wort0 ", b"Wort0, ", 1)
    path.with_name("talk.fixed.srt").write_bytes(b"another's")
    assert "already exists" in write(good)[1]["error"]
    path.write_bytes(data + b"\r\n")
    status, told = write(decisions(data, {0: ("Wort0", "Wort0,")}, where="in-place"))
    assert (status, "was changed" in told["error"]) == (409, True)
    assert path.read_bytes() == data + b"\r\n"


def test_the_server_stays_while_another_page_is_open(server: ReviewServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_server, "_RELOAD_S", 0.0)
    own = f"/{server.token}/"
    for _ in range(2):
        assert asked(server, "GET", own)[0] == 200
        assert asked(server, "POST", f"{own}opened", b"")[0] == 200
    assert asked(server, "POST", f"{own}closed", b"")[0] == 200
    time.sleep(0.2)
    assert asked(server, "POST", f"{own}write", b"{}", Content_Type="text/plain")[0] == 415


def test_a_page_that_is_fetched_and_never_shown_does_not_keep_the_server(
    server: ReviewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As browsers do in advance; so does one whose page could not be made because its file was being written."""
    monkeypatch.setattr(review_server, "_RELOAD_S", 0.0)
    monkeypatch.setattr(review_server, "_LOAD_S", 0.3)
    over = threading.Event()
    monkeypatch.setattr(server, "shutdown", over.set)
    own = f"/{server.token}/"
    asked(server, "GET", own)
    assert not over.wait(0.6)  # the browser may be slow to start
    asked(server, "GET", own)
    asked(server, "POST", f"{own}opened", b"")
    asked(server, "GET", own)
    assert not over.wait(0.6)  # the page is shown
    asked(server, "POST", f"{own}closed", b"")
    assert over.wait(10)
    over.clear()
    asked(server, "GET", own)  # a reload
    asked(server, "POST", f"{own}opened", b"")
    asked(server, "GET", own)
    monkeypatch.setattr(review_server, "_RELOAD_S", 99.0)
    asked(server, "POST", f"{own}closed", b"")
    asked(server, "GET", own)
    assert over.wait(10)


def test_a_file_without_words_has_a_page() -> None:
    found = {"name": "x.srt", "language": "", "texts": []}
    assert b"x.srt" in page_bytes(found)


# --- the page in Chromium

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chauffeur = shutil.which("chromedriver")
    if CHROMIUM is None or chauffeur is None:
        pytest.skip("Chromium and chromedriver are not installed")
    with tempfile.TemporaryDirectory() as home:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
            "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
            f"--user-data-dir={home}/profile", "--window-size=1280,800",
        ):  # fmt: skip
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        several = "profile.default_content_setting_values.automatic_downloads"
        options.add_experimental_option("prefs", {"download.default_directory": f"{home}/saved", several: 1})
        # What a browser writes beside its profile goes there, too.
        own = {**os.environ, "XDG_CONFIG_HOME": f"{home}/config"}
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(chauffeur, env=own))
        driver.set_script_timeout(LONG)
        driver.downloads = Path(home) / "saved"
        yield driver
        driver.quit()


def keys(browser: Any, *pressed: str) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    for key in pressed:
        browser.find_element(By.TAG_NAME, "body").send_keys(getattr(Keys, key, key))


def text_of(browser: Any, selector: str) -> str:
    return str(browser.execute_script("return document.querySelector(arguments[0]).textContent", selector))


def until(browser: Any, script: str) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, LONG, 0.05).until(lambda driver: driver.execute_script(f"return {script}"))


def severe(browser: Any) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser") if "favicon" not in entry["message"]]


def test_an_editor_decides_by_keys_alone_and_the_file_has_it(browser: Any, server: ReviewServer) -> None:
    path = Path(server.session.job.source)
    data = path.read_bytes()
    browser.get(server.address)
    keys(browser, "ARROW_LEFT", *["ARROW_LEFT"] * 5)
    at = int(browser.execute_script("return document.querySelector('.w.here').id.slice(1)"))
    assert at == 0
    keys(browser, "ARROW_RIGHT", "?")
    assert text_of(browser, "#w1") == "wort1?"
    assert text_of(browser, "#w2") == "Wort2"  # a sentence begins
    assert browser.execute_script("return document.activeElement.id") == "w1"
    assert "wort1?" in browser.execute_script("return document.activeElement.getAttribute('aria-label')")
    keys(browser, "u")
    assert (text_of(browser, "#w1"), text_of(browser, "#w2")) == ("wort1", "wort2")
    keys(browser, "r", "ARROW_RIGHT", "ARROW_RIGHT", "c", "c", ",")
    assert text_of(browser, "#w3") == "WORT3,"
    keys(browser, "h")
    until(browser, "document.getElementById('keys').open")
    browser.execute_script("document.getElementById('keys').close()")
    # What was decided is still there when the page is loaded again.
    until(browser, "Object.keys(localStorage).length == 1")
    browser.refresh()
    assert text_of(browser, "#w3") == "WORT3,"
    keys(browser, "w")
    until(browser, "document.getElementById('writing').open")
    browser.execute_script("document.getElementById('write-here').click()")
    until(browser, "document.getElementById('status').textContent.includes('3 words written')")
    expected = data.replace(b"wort1<", b"wort1?<").replace(b"wort2 ", b"Wort2 ").replace(b"wort3 ", b"WORT3, ")
    assert path.read_bytes() == expected
    assert "0 changed" in text_of(browser, "#progress")
    assert severe(browser) == []


def test_a_page_without_server_connects_nowhere_and_saves_decisions(
    browser: Any, tmp_path: Path, tiny_model: Path
) -> None:
    path, page = tmp_path / "talk.srt", tmp_path / "page.html"
    path.write_bytes(film()[1])
    assert command("review", "--below", "1", "--model", tiny_model, path, "--html", page).exit_code == 0
    browser.get_log("performance")
    browser.get(page.as_uri())
    keys(browser, "n", "n")
    taken = browser.execute_script("return document.querySelector('.w.here').id")
    keys(browser, "ENTER")
    assert "new" in browser.execute_script("return document.getElementById(arguments[0]).className", taken)
    keys(browser, "w")
    until(browser, "document.getElementById('writing').open")
    shown = "return [...document.querySelectorAll('#writing button')].filter((b) => b.offsetHeight).map((b) => b.id)"
    assert browser.execute_script(shown) == ["save-file", "download", "cancel"]
    browser.execute_script("document.getElementById('save-file').click()")
    keys(browser, "w")
    until(browser, "document.getElementById('writing').open")
    browser.execute_script("document.getElementById('download').click()")
    saved, whole = browser.downloads / "talk.srt.decisions.json", browser.downloads / "talk.fixed.srt"
    until(browser, "document.getElementById('status').textContent.includes('Saved')")
    for _ in range(100):
        if saved.exists() and whole.exists():
            break
        threading.Event().wait(0.05)
    run = command("review", "--apply", saved, path, "-o", tmp_path / "new.srt")
    assert run.exit_code == 0, run.stderr
    assert whole.read_bytes() == (tmp_path / "new.srt").read_bytes() != path.read_bytes()
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"]
    assert all(url.startswith(("file:", "blob:")) for url in urls), urls
    assert severe(browser) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_the_screen_and_its_buttons_have_names(browser: Any, server: ReviewServer, width: int) -> None:
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(server.address)
    wide, seen = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= seen == width
    nameless = """return [...document.querySelectorAll('button, input, [role=img], [role=group], section, aside, main')]
        .filter((e) => !e.closest('.para, dialog') && !(e.getAttribute('aria-label') || e.textContent.trim()
        || e.getAttribute('aria-labelledby'))).map((e) => e.outerHTML)"""
    assert browser.execute_script(nameless) == []
    small = """return [...document.querySelectorAll('.row button')].filter((e) => e.getBoundingClientRect().height
        && (e.getBoundingClientRect().height < 36 || e.getBoundingClientRect().right > innerWidth)).length"""
    assert browser.execute_script(small) == 0
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def heard(browser: Any) -> list[dict[str, Any]]:
    """What a screen reader is given, in its order: role, name, the text above, and properties such as pressed."""
    browser.execute_cdp_cmd("Accessibility.enable", {})
    nodes = {node["nodeId"]: node for node in browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]}
    found: list[dict[str, Any]] = []

    def walk(node: dict[str, Any], above: tuple[str, ...]) -> None:
        if not node["ignored"]:
            role, name = (str(node.get(key, {}).get("value", "")) for key in ("role", "name"))
            properties = {own["name"]: own["value"].get("value") for own in node.get("properties", [])}
            found.append({"role": role, "name": name.strip(), "above": above, **properties})
            above = (*above, f"{role} {name}".strip())
        for child in node.get("childIds", []):
            if child in nodes:
                walk(nodes[child], above)

    walk(next(node for node in nodes.values() if "parentId" not in node), ())
    return found


def spoken(found: list[dict[str, Any]], within: str) -> str:
    return " ".join(node["name"] for node in found if node["role"] == "StaticText" and within in node["above"])


def test_a_screen_reader_finds_the_text_and_the_buttons(browser: Any, server: ReviewServer) -> None:
    browser.get(server.address)
    keys(browser, "ARROW_RIGHT")
    found = heard(browser)
    has = {(node["role"], node["name"]) for node in found}
    places = {("banner", ""), ("main", "Transcript"), ("complementary", "Word and plots"), ("region", "Timeline")}
    assert places <= has
    buttons = {"Keys", "Write…", "Previous doubt", "Correct as it is", "Next doubt", "Play from here", "Undo", "Redo"}
    marks = {"no mark", "comma", "period", "question mark", "exclamation mark", "colon", "semicolon"}
    assert {("button", name) for name in buttons | marks} <= has
    assert ("heading", "talk.srt") in has
    assert ("link", "Skip to the text") in has
    named = {"button", "link", "heading", "image", "img", "dialog", "group", "region", "textbox", "slider"}
    assert [node for node in found if node["role"] in named and not node["name"]] == []
    # The whole film, its words in their order, under the times that it is spoken at.
    said = [word for word in spoken(found, "main Transcript").split() if word.lower().startswith("wort")]
    here = next(node for node in found if node.get("focused") and node["role"] == "button")
    at = int(browser.execute_script("return document.activeElement.id.slice(1)"))
    words = film()[0]
    assert said == words
    assert here["name"].startswith(f"{words[at]}: ")
    assert any(node["role"] == "heading" and node["name"] == "00:00" for node in found)


def test_a_screen_reader_is_told_of_each_decision(browser: Any, server: ReviewServer) -> None:
    def told() -> str:
        found = heard(browser)
        status = next(node for node in found if node["role"] == "status")
        assert status["live"] == "polite"
        assert status["atomic"]
        return spoken(found, "status")

    browser.get(server.address)
    keys(browser, *["ARROW_LEFT"] * 50, "ARROW_RIGHT", "?")
    assert told() == "wort1?: question mark"
    pressed = {node["name"] for node in heard(browser) if node.get("pressed") == "true" and node["role"] == "button"}
    assert "question mark" in pressed
    keys(browser, "u")
    assert told() == "Undone: wort1 wort2"
    keys(browser, "r")
    assert told() == "Redone: wort1? Wort2"
    keys(browser, "c")
    assert told() == "Wort1?"
    keys(browser, "h")
    until(browser, "document.getElementById('keys').open")
    assert any(node["role"] == "dialog" and node["name"] == "Keys" and node.get("modal") for node in heard(browser))
    browser.execute_script("document.getElementById('keys').close()")


def test_a_screen_reader_meets_no_empty_heading(browser: Any, tmp_path: Path, tiny_model: Path) -> None:
    """Text without times and speakers has none to say above its paragraphs."""
    (tmp_path / "talk.txt").write_text("Hello cat.\n" * 40, "utf-8")
    page = tmp_path / "page.html"
    assert command("review", "--model", tiny_model, tmp_path / "talk.txt", "--html", page).exit_code == 0
    browser.get(page.as_uri())
    found = heard(browser)
    assert [node["name"] for node in found if node["role"] == "heading" and "main Transcript" in node["above"]] == []
    assert spoken(found, "main Transcript").split() == ["Hello", "cat."] * 40


def test_sound_plays_from_a_word(browser: Any, server: ReviewServer, tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "talk.wav"), "wb") as sound:
        sound.setparams((1, 1, 8000, 0, "NONE", ""))
        sound.writeframes(bytes([128]) * 8000 * 30)
    browser.get(server.address)
    browser.find_element("id", "media").send_keys(str(tmp_path / "talk.wav"))
    until(browser, "document.querySelector('video')?.readyState >= 1")
    keys(browser, "SPACE")
    at = float(browser.execute_script("return Number(document.querySelector('.w.here').id.slice(1))"))
    until(browser, "!document.querySelector('video').paused")
    began = 2 * (at // 4)  # four words in each cue of two seconds
    now = float(browser.execute_script("return document.querySelector('video').currentTime"))
    assert began - 0.2 <= now < began + 4
    until(browser, "document.querySelector('.playing') !== null")
    keys(browser, "SPACE")
    until(browser, "document.querySelector('video').paused")
    assert severe(browser) == []


def test_two_files_side_by_side(browser: Any, tmp_path: Path, tiny_model: Path) -> None:
    path, other = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("We went home. and slept there\n", "utf-8")
    other.write_text("We went home, and then slept There\n", "utf-8")
    page = tmp_path / "page.html"
    run = command("review", "--below", "0", "--model", tiny_model, path, "--compare", other, "--html", page)
    assert run.exit_code == 0, run.stderr
    browser.get(page.as_uri())
    assert text_of(browser, ".theirs") == "We went home, and then slept There"
    assert browser.execute_script("return [...document.querySelectorAll('.differs')].map((e) => e.id)") == ["w2", "w5"]
    keys(browser, "ENTER", "n", "ENTER")
    assert text_of(browser, "#w2") == "home,"
    assert text_of(browser, "#w5") == "There"


def test_the_server_ends_when_its_page_is_closed(browser: Any, tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_bytes(film()[1])
    call = [sys.executable, "-m", "cappunc_cli", "review", "--model", str(tiny_model), str(path), "--open"]
    with subprocess.Popen(
        call, env={**os.environ, "BROWSER": "true"}, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stderr.readline())
        assert found
        browser.get(found[0])
        browser.get("about:blank")
        assert process.wait(LONG) == 0
