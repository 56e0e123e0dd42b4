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
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from cappunc_cli import formats
from cappunc_cli.cli.main import app
from cappunc_cli.errors import BadInput
from cappunc_cli.features.review import review_server
from cappunc_cli.features.review.decisions import Decision, decided_texts, parse_decisions, sha256
from cappunc_cli.features.review.review_server import ReviewServer
from cappunc_cli.features.review.review_session import ReviewSession
from cappunc_cli.files.fixer import Fixer, FixRequest
from cappunc_cli.files.jobs import Job
from cappunc_cli.pages.review_page import review_page, word_data

#: Seconds after which something is given up that happens at once unless the machine is busy.
LONG = 120


def film(cues: int = 12) -> tuple[list[str], bytes]:
    """The words of a small film, and its SRT."""
    # With commas after its first sentence, or the text would lack marks and have no single doubts.
    marks = {4: ".", 1: ",", 3: ","}
    words = [f"{'Wort' if i % 5 == 0 else 'wort'}{i}{marks.get(i % 5, '') if i >= 4 else ''}" for i in range(4 * cues)]
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
    fixer = Fixer(FixRequest("en", str(model), device="cpu"), print)
    with ReviewServer(ReviewSession(Job(str(path), None), fixer, 1.0, **more)) as found:
        thread = threading.Thread(target=found.serve_forever, name=found.token)
        thread.start()
        yield found
        found.shutdown()
        thread.join(LONG)
        assert not thread.is_alive()


def asked(
    server: ReviewServer, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes, http.client.HTTPMessage]:
    """Ask as the browser does that was given the cookie."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=LONG)
    given = {"Cookie": f"cappunc={server.cookie}", **headers}
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in given.items()})
    answer = connection.getresponse()
    found = answer.status, answer.read(), answer.headers
    connection.close()
    return found


def write(server: ReviewServer, body: bytes) -> tuple[int, Any]:
    """Send decisions as the page does: the status, and what it is told."""
    status, answer, _ = asked(server, "POST", f"/{server.token}/write", body, Content_Type="application/json")
    return status, json.loads(answer)


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


def test_decisions_are_of_one_file(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a.srt", "b.srt"):
        (tmp_path / "in" / name).write_bytes(film()[1])
    (tmp_path / "d.json").write_bytes(decisions(film()[1], {2: ("wort2", "Wort2")}))
    for options in (["--in-place"], ["-o", tmp_path / "out"]):
        run = command("review", "--apply", tmp_path / "d.json", *options, tmp_path / "in")
        assert (run.exit_code, "takes exactly one file" in run.stderr) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.json", "in"]


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
    assert "there." in found["texts"]


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
        assert asked(server, "POST", f"{own}write", b"{}", Content_Length=length)[0] in (400, 413)
    assert asked(server, "OPTIONS", f"{own}write")[0] == 405
    assert server.address.startswith("http://127.0.0.1:")


def test_an_address_is_good_for_one_browser(server: ReviewServer) -> None:
    """The address stands in the browser's command line, where other users read it."""
    own = f"/{server.token}/"
    status, _, headers = asked(server, "GET", own, Cookie="")
    cookie = headers["Set-Cookie"]
    assert status == 200
    assert {"httponly", "samesite=strict", f"path={own}".lower()} <= set(cookie.lower().split("; "))
    for stolen in ("", "cappunc=", "cappunc=x", 'cappunc="'):
        assert asked(server, "GET", own, Cookie=stolen)[0] == 403
        assert asked(server, "POST", f"{own}write", b"{}", Content_Type="application/json", Cookie=stolen)[0] == 403
    assert asked(server, "GET", own, Cookie=cookie.partition(";")[0])[0] == 200


def test_a_browser_that_breaks_off_leaves_no_trace(server: ReviewServer, capsys: pytest.CaptureFixture[str]) -> None:
    for request in ("GET", "POST"):
        head = (
            f"{request} /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\nContent-Length: 9\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.server_port)) as browser:
            browser.sendall(head.encode())
        asked(server, "GET", "/")
    assert capsys.readouterr() == ("", "")
    assert asked(server, "GET", f"/{server.token}/")[0] == 200


def test_the_server_checks_each_decision_and_the_file(server: ReviewServer) -> None:
    path = Path(server.session.job.source)
    data = path.read_bytes()
    for bad in (b"{}", decisions(data, {0: ("Wort0", "Rat0")}), decisions(data, {99: ("Wort0", "Wort0.")})):
        assert write(server, bad)[0] == 409
        assert path.read_bytes() == data
    good = decisions(data, {0: ("Wort0", "Wort0,")})
    for _ in range(2):  # what this session has written it may write again
        status, told = write(server, good)
        assert (status, told["changed"], told["written"]) == (200, 1, str(path.with_name("talk.fixed.srt")))
    assert path.with_name("talk.fixed.srt").read_bytes() == data.replace(b"Wort0 ", b"Wort0, ", 1)
    path.with_name("talk.fixed.srt").write_bytes(b"another's")
    assert "already exists" in write(server, good)[1]["error"]
    # The page cannot ask for more than the command line allowed.
    written = path.read_bytes()
    assert "already exists" in write(server, decisions(data, {0: ("Wort0", "Wort0,")}, where="in-place"))[1]["error"]
    assert path.read_bytes() == written


def test_in_place_writes_into_the_file_unless_it_has_changed(tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_bytes(data := film()[1])
    changed = decisions(data, {0: ("Wort0", "Wort0,")})
    for server in served(path, tiny_model, in_place=True):
        assert write(server, changed)[1]["written"] == str(path)
        assert path.read_bytes() == data.replace(b"Wort0 ", b"Wort0, ", 1)
        status, told = write(server, changed)
        assert (status, "was changed" in told["error"]) == (409, True)


def test_the_server_stays_while_a_page_is_shown_and_ends_after_the_last(
    server: ReviewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review_server, "_RELOAD_S", LONG)
    [thread] = [thread for thread in threading.enumerate() if thread.name == server.token]

    def opened() -> socket.socket:
        page = socket.create_connection(("127.0.0.1", server.server_port), timeout=LONG)
        head = f"Host: 127.0.0.1:{server.server_port}\r\nCookie: cappunc={server.cookie}\r\n\r\n"
        page.sendall(f"GET /{server.token}/alive HTTP/1.1\r\n{head}".encode())
        assert b"text/event-stream" in page.recv(1000)
        return page

    first, second = opened(), opened()
    first.close()
    assert thread.is_alive()  # another page is shown
    second.close()
    third = opened()  # a reload
    assert thread.is_alive()
    monkeypatch.setattr(review_server, "_RELOAD_S", 0.1)
    third.close()
    thread.join(LONG)
    assert not thread.is_alive()


def test_a_file_without_words_has_a_page() -> None:
    words = word_data(formats.read("", "x.srt"), "x.srt")
    assert b"x.srt" in review_page(words)


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


def focused(browser: Any, key: str) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.switch_to.active_element.send_keys(getattr(Keys, key))


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
    focused(browser, "ENTER")
    until(browser, "document.getElementById('status').textContent.includes('3 words written')")
    expected = data.replace(b"wort1<", b"wort1?<").replace(b"wort2 ", b"Wort2 ").replace(b"wort3 ", b"WORT3, ")
    assert path.with_name("talk.fixed.srt").read_bytes() == expected
    assert path.read_bytes() == data
    assert severe(browser) == []


def test_a_page_without_server_connects_nowhere_and_saves_decisions(
    browser: Any, tmp_path: Path, tiny_model: Path
) -> None:
    path, page = tmp_path / "talk.srt", tmp_path / "page.html"
    path.write_bytes(film()[1])
    assert command("review", "--below", "1", "--model", tiny_model, path, "--html", page).exit_code == 0
    browser.get("about:blank")  # a page of another test would go on asking for its server
    browser.get_log("performance")
    browser.get(page.as_uri())
    keys(browser, "n", "n")
    taken = browser.execute_script("return document.querySelector('.w.here').id")
    keys(browser, "ENTER")
    assert "new" in browser.execute_script("return document.getElementById(arguments[0]).className", taken)
    keys(browser, "w")
    until(browser, "document.getElementById('writing').open")
    shown = "return [...document.querySelectorAll('#writing button')].filter((b) => b.offsetHeight).map((b) => b.id)"
    assert browser.execute_script(shown) == ["download", "cancel"]
    browser.execute_script("document.getElementById('download').click()")
    saved = browser.downloads / "talk.srt.decisions.json"
    until(browser, "document.getElementById('status').textContent.includes('Saved')")
    for _ in range(100):
        if saved.exists():
            break
        threading.Event().wait(0.05)
    run = command("review", "--apply", saved, path, "-o", tmp_path / "new.srt")
    assert run.exit_code == 0, run.stderr
    assert (tmp_path / "new.srt").read_bytes() != path.read_bytes()
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"]
    # On a busy machine the browser's own first page may still be loading.
    assert all(url.startswith(("file:", "blob:", "chrome:")) for url in urls), urls
    assert severe(browser) == []


@pytest.fixture
def screen(browser: Any) -> Iterator[Any]:
    """Sets the size of the window and what its user prefers, such as `prefers_color_scheme="dark"`."""

    def shown(width: int, **preferences: str) -> None:
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in preferences.items()]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    yield shown
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("width", [390, 760, 1280, 1600])
def test_the_page_fits_the_screen(browser: Any, server: ReviewServer, screen: Any, width: int) -> None:
    screen(width)
    browser.get(server.address)
    wide, seen = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= seen == width
    outside = """return [...document.querySelectorAll('button, .button')].map((e) => [e, e.getBoundingClientRect()])
        .filter(([e, box]) => box.height && !e.disabled && (box.height < 32 || box.width < 24 || box.left < 0
        || box.right > innerWidth)).map(([e]) => e.outerHTML)"""
    assert browser.execute_script(outside) == []
    # The name and the counter stay on one line each.
    lines = "return [...document.querySelectorAll('#name, #progress, #where')].map((e) => e.getClientRects().length)"
    assert browser.execute_script(lines) == [1, 1, 1]


@pytest.mark.parametrize("width", [390, 1280])
def test_buttons_stay_where_they_are_and_messages_cover_nothing(
    browser: Any, server: ReviewServer, screen: Any, width: int
) -> None:
    screen(width)
    browser.get(server.address)
    place = """return ['back', 'on', 'where', 'play', 'undo', 'redo', 'write', 'help', 'status'].map((id) => {
        const box = document.getElementById(id).getBoundingClientRect();
        return [id, box.left, box.top, box.width]; })"""
    inside = """const menu = document.getElementById('menu').getBoundingClientRect();
        return ['take', 'keep'].map((id) => { const box = document.getElementById(id).getBoundingClientRect();
        return [id, Math.round(box.left - menu.left), box.width]; })"""
    first, menu = browser.execute_script(place), browser.execute_script(inside)
    for key in ("n", "k", "ENTER", "n", ",", "u", "c", "p"):
        keys(browser, key)
        assert browser.execute_script(place) == first, key
        assert browser.execute_script(inside) == menu, key
    # What is under the middle of a message is that message's own place.
    covered = """const box = document.getElementById('status').getBoundingClientRect();
        return document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2).closest('footer') !== null
        && getComputedStyle(document.querySelector('main')).paddingBottom.replace('px', '') > 100"""
    assert browser.execute_script(covered)


def test_the_menu_stands_at_the_word_and_says_what_is_doubted(browser: Any, server: ReviewServer, screen: Any) -> None:
    screen(1280)
    browser.get(server.address)
    for _ in range(12):
        keys(browser, "n")
        below, apart = browser.execute_script("""
            const word = document.querySelector('.w.here').getBoundingClientRect();
            const menu = document.getElementById('menu').getBoundingClientRect();
            return [menu.top - word.bottom, Math.max(menu.left - word.right, word.left - menu.right)]""")
        assert 0 <= below < 20
        assert apart <= 0
        number = int(browser.execute_script("return document.querySelector('.w.here').id.slice(1)"))
        own = [doubt for doubt in server.session.report()["doubts"] if doubt[0] == number]
        told = text_of(browser, "#told")
        for _, kind, _written, probability, instead, likelier in own:
            assert f": {probability} %. {'Suggested' if likelier > probability else 'Second choice'}: " in told
            if kind == "case":
                assert f"“{instead}”" in told
    # From the word, the tab key goes into its menu and back; the escape key closes it.
    focused(browser, "TAB")
    assert browser.execute_script("return document.activeElement.closest('#menu') !== null")
    keys(browser, "ESCAPE")
    assert browser.execute_script("return document.getElementById('menu').hidden")


def test_page_and_command_agree_on_the_number_of_doubts(browser: Any, tmp_path: Path, tiny_model: Path) -> None:
    path, page = tmp_path / "talk.srt", tmp_path / "page.html"
    path.write_bytes(film(11)[1])  # the browser remembers what other tests have decided about their film
    model = ("--model", tiny_model, "--lang", "en", "--below", "0.9")
    [listed] = json.loads(command("review", *model, path, "--json").stdout)
    told = command("review", *model, path, "--html", page).stderr
    browser.get(page.as_uri())
    count = len(listed["doubts"])
    assert count > 5
    assert f"{count} doubts" in told
    assert text_of(browser, "#progress").startswith(f"0 of {count} checked")
    # By the page itself: each key that the driver presses takes a tenth of a second.
    places = browser.execute_script(
        """return [...Array(arguments[0])].map(() => {
        const place = document.getElementById('where').textContent;
        document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', bubbles: true, cancelable: true}));
        return place; })""",
        count,
    )
    assert len(set(places)) == count
    assert places[-1].endswith(f"{count} of {count}")
    assert text_of(browser, "#progress").startswith(f"{count} of {count} checked")


def axe() -> str:
    """The source of axe-core, which CAPPUNC_AXE may name; npm fetches it where there is npm, else the test skips."""
    named = os.environ.get("CAPPUNC_AXE")
    if named is None:
        if shutil.which("npm") is None:
            pytest.skip("axe-core is not there: CAPPUNC_AXE names no axe.min.js, and there is no npm")
        home = Path(tempfile.gettempdir()) / f"cappunc-axe-{os.getuid()}"
        named = str(home / "node_modules" / "axe-core" / "axe.min.js")
        if not Path(named).exists():
            call = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(home), "axe-core@4"]
            if subprocess.run(call, timeout=200, check=False, capture_output=True).returncode:
                pytest.skip("axe-core is not there: npm cannot fetch it")
    return Path(named).read_text("utf-8")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, server: ReviewServer, screen: Any, width: int, theme: str) -> None:
    source = axe()
    screen(width, prefers_color_scheme=theme, prefers_reduced_motion="reduce")
    browser.get(server.address)
    keys(browser, "n", ",", "k", "n")
    assert violations(browser, source) == []
    keys(browser, "w")
    until(browser, "document.getElementById('writing').open")
    assert violations(browser, source) == []


def violations(browser: Any, source: str) -> list[str]:
    browser.execute_script(source)
    found = browser.execute_async_script("""const done = arguments[0];
        axe.run({resultTypes: ['violations']}).then((found) => done(found.violations.map(
        (v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 99) + (n.any[0]?.message ?? '')).join(' | ')}`)))""")
    return [str(one) for one in found]


def test_reports_have_the_same_style_and_axe_finds_nothing(browser: Any, tmp_path: Path, screen: Any) -> None:
    talk, page, captions = tmp_path / "talk.srt", tmp_path / "eval.html", tmp_path / "captions.html"
    talk.write_bytes(film()[1].replace(b"wort3 ", b"Wort3 "))
    (tmp_path / "ref").mkdir()
    (tmp_path / "ref/talk.srt").write_bytes(film()[1])
    command("check", "--captions", "netflix", talk, "--report", captions)
    reference, systems = tmp_path / "ref/talk.srt", tmp_path / "systems.html"
    for hypotheses, target in (([talk], page), ([reference, talk], systems)):
        run = command("eval", "--ref", reference, *hypotheses, "--html", target)
        assert run.exit_code == 0, run.output
    source = axe()
    for path in (page, systems, captions):
        for theme in ("light", "dark"):
            screen(390, prefers_color_scheme=theme)
            browser.get(path.as_uri())
            assert violations(browser, source) == [], path
            wide, seen = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
            assert wide <= seen
    assert severe(browser) == []


def test_a_report_shows_the_mistakes_of_one_kind(browser: Any, tmp_path: Path) -> None:
    fixtures = Path(__file__).parents[3] / "fixtures" / "eval"
    page = tmp_path / "report.html"
    assert command("eval", "--ref", fixtures / "gold", fixtures / "ours", "--html", page).exit_code == 0
    browser.get(page.as_uri())
    shown = (
        "return [...document.querySelectorAll('li[data-group]')].filter((e) => !e.hidden).map((e) => e.dataset.group)"
    )
    assert browser.execute_script(shown) == ["sentence end missed", "comma missed", "capital missed"]
    browser.execute_script("document.querySelector('button[data-group=\"comma missed\"]').click()")
    assert browser.execute_script(shown) == ["comma missed"]


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
    places = {("banner", ""), ("contentinfo", ""), ("region", "Transcript"), ("region", "Timeline")}
    assert places <= has
    buttons = {"Keys", "Save…", "Previous doubt", "Keep", "Next doubt", "Play", "Undo", "Redo"}
    marks = {"no mark", "comma", "period", "question mark", "exclamation mark", "colon", "semicolon"}
    assert {("button", name) for name in buttons | marks} <= has
    assert ("heading", "talk.srt") in has
    assert ("link", "Skip to the text") in has
    named = {"button", "link", "heading", "image", "img", "dialog", "group", "region", "textbox", "slider"}
    assert [node for node in found if node["role"] in named and not node["name"]] == []
    # The whole film, its words in their order, under the times that it is spoken at.
    said = [word for word in spoken(found, "region Transcript").split() if word.lower().startswith("wort")]
    here = next(node for node in found if node.get("focused") and node["role"] == "button")
    at = int(browser.execute_script("return document.activeElement.id.slice(1)"))
    words = film()[0]
    assert said == words
    assert here["name"].startswith(f"{words[at]}: ")
    assert any(node["role"] == "heading" and node["name"] == "0:00" for node in found)


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
    assert [node["name"] for node in found if node["role"] == "heading" and "region Transcript" in node["above"]] == []
    assert spoken(found, "region Transcript").split() == ["Hello", "cat."] * 40


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
    keys(browser, "ENTER", "ENTER")
    assert text_of(browser, "#w2") == "home,"
    assert text_of(browser, "#w5") == "There"


def opened(path: Path, model: Path) -> tuple[subprocess.Popen[str], str]:
    """`review --open`, and the address that it shows."""
    call = [sys.executable, "-m", "cappunc_cli", "review", "--model", str(model), str(path), "--open"]
    process = subprocess.Popen(
        call, env={**os.environ, "BROWSER": "true"}, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stderr.readline())
    assert found
    return process, found[0]


def test_the_server_ends_when_its_page_is_closed(browser: Any, tmp_path: Path, tiny_model: Path) -> None:
    path = tmp_path / "talk.srt"
    path.write_bytes(film()[1])
    process, address = opened(path, tiny_model)
    try:
        browser.get(address)
        until(browser, "document.querySelector('.w.here') !== null")
        browser.refresh()
        browser.get("about:blank")
        assert process.wait(LONG) == 0
    finally:
        process.kill()
        process.communicate()
