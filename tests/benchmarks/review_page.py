"""How fast the page of `cappunc review` is on a long film, in Chromium.

    python tests/benchmarks/review_page.py > tests/benchmarks/results/review_page.json

The film is synthetic: 12,000 words in cues of eight, a pause after every fourth cue, with marks and capitals. Reported
as medians of five fresh loads: the time until the first paint of the text, until the script has built the page, and
from a key press until the next frame shows its effect (median and worst of 100 presses), and the memory of the page's
script and elements. The page is that of `--html`, without network.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from pathlib import Path
from typing import Any

from measuring import head, options, print_report

from cappunc_cli.document.words import timestamp
from cappunc_cli.features.review.review_server import ReviewSession
from cappunc_cli.files.fixer import Fixer, FixRequest
from cappunc_cli.files.jobs import Job
from cappunc_cli.pages.review_page import review_page

WORDS, ROUNDS, PRESSES = 12_000, 5, 100
CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
_PRESS = """
const [key, done] = arguments, before = performance.now();
document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
requestAnimationFrame(() => {
  const painted = new MessageChannel();
  painted.port1.onmessage = () => done(performance.now() - before);
  painted.port2.postMessage(0);
});
"""


def film(words: int) -> str:
    """An SRT of so many words: what English sentences look like, of the commonest words."""
    dice = random.Random(1)
    common = ("the", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "are", "with", "as", "they", "be")
    texts, begins = [], True
    for i in range(words):
        word = dice.choice(common)
        ends = dice.random() < 0.08 or i == words - 1
        mark = dice.choice(".?.") if ends else "," * (dice.random() < 0.07)
        texts.append(f"{word.capitalize() if begins else word}{mark}")
        begins = ends
    cues, at = [], 0
    for n in range(0, words, 8):
        times = (timestamp(time).replace(".", ",") for time in (at, at + 2600))
        at += 2600 + (900 if n % 32 == 0 else 100)
        lines = "\n".join(" ".join(texts[i : i + 4]) for i in (n, n + 4))
        cues.append(f"{n // 8 + 1}\n{' --> '.join(times)}\n{lines}\n")
    return "\n".join(cues)


def browser(home: str) -> Any:
    from selenium import webdriver

    chosen = webdriver.ChromeOptions()
    chosen.binary_location = CHROMIUM
    for argument in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
        f"--user-data-dir={home}", "--window-size=1280,800", "--enable-precise-memory-info",
    ):  # fmt: skip
        chosen.add_argument(argument)
    return webdriver.Chrome(options=chosen, service=webdriver.ChromeService(DRIVER))


def measure(page: Path) -> dict[str, Any]:
    """One fresh browser: paint, presses, memory."""
    with tempfile.TemporaryDirectory() as home:
        driver = browser(home)
        try:
            driver.get(page.as_uri())
            paint = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
            first = 0.0
            while not first:
                first = float(driver.execute_script(paint))
            built = driver.execute_script(
                "return performance.timing.domContentLoadedEventEnd - performance.timing.navigationStart"
            )
            pressed = [
                float(driver.execute_async_script(_PRESS, key))
                for n in range(PRESSES)
                for key in ("n" if n % 2 else ",")
            ]
            driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
            heap = driver.execute_cdp_cmd("Runtime.getHeapUsage", {})
            dom = driver.execute_cdp_cmd("Memory.getDOMCounters", {})
            name = driver.capabilities["browserVersion"]
        finally:
            driver.quit()
    return {
        "first_paint_ms": first,
        "built_ms": float(built),
        "key_ms": statistics.median(pressed),
        "worst_key_ms": max(pressed),
        "script_mb": heap["usedSize"] / 1e6,
        "nodes": float(dom["nodes"]),
        "chromium": name,
    }


def main() -> None:
    arguments = options(__doc__).parse_args()
    rounds = 1 if arguments.quick else ROUNDS
    with tempfile.TemporaryDirectory() as place:
        path, page = Path(place) / "film.srt", Path(place) / "film.html"
        path.write_text(film(WORDS), "utf-8")
        fixer = Fixer(FixRequest("en", arguments.model, device="cpu"), print)
        session = ReviewSession(Job(str(path), None), fixer, 0.7)
        found = session.report()
        page.write_bytes(review_page(found))
        size = page.stat().st_size
        runs = [measure(page) for _ in range(rounds)]
    result = {
        **head(),
        "model": arguments.model,
        "chromium": next(run.pop("chromium") for run in runs),
        "words": len(found["texts"]),
        "doubts": len(found["doubts"]),
        "page_mb": round(size / 1e6, 2),
        "median": {
            name: round(statistics.median(run[name] for run in runs), 1) for name in runs[0] if name != "chromium"
        },
    }
    print_report(result)


if __name__ == "__main__":
    main()
