"""Write the generated tables of the README and of docs/ from tests/benchmarks/results/*.json.

python -m tests.benchmarks.tables
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cappunc_cli.features.bench.hardware import in_short
from models.lab.studies import tables as studies
from tests.benchmarks.markdown import ROOT, model_of, note, source, table

RESULTS = Path(__file__).parent / "results"
#: Prefixes of the systems in the README's comparison.
_COMPARED = ("punctuators", "BERT-base, rpunct", "deepmultilingual")


def by_stage(bench: dict[str, Any]) -> str:
    """The shares of the stages for each file, and its speed relative to the first file."""
    first = next(iter(bench["inputs"].values()))
    rows = [
        [
            name,
            f"{found['words_per_second'] / first['words_per_second']:.2f}",
            *(f"{100 * found['shares'][stage]:.0f} %" for stage in first["shares"]),
        ]
        for name, found in bench["inputs"].items()
    ]
    return table(["file", "pace", *first["shares"]], rows)


def cpu(report: dict[str, Any]) -> str:
    """Stages, cold start, files, memory, ceiling: shares and ratios, because seconds depend on the machine."""
    bench, files = report["bench"], report["files"]
    start = bench["start"]["seconds"]
    parts = ", ".join(f"{part} {100 * seconds / sum(start.values()):.0f} %" for part, seconds in start.items())
    kinds = {
        "one_file": "one file",
        "many_files": f"{files['files']:,} files",
        "many_files_jobs": f"{files['files']:,} files, --jobs {files['jobs']}",
    }
    base = files["one_file"]["words_per_second"]
    rows = [
        [title, f"{files[kind]['words_per_second'] / base:.2f}", f"{files[kind]['peak_memory_mb']:,.0f} MB"]
        for kind, title in kinds.items()
    ]
    operators = ", ".join(f"{name} {100 * share:.0f} %" for name, share in report["profile"].items())
    warm = bench["start"]["words"] / bench["inputs"]["talk.srt"]["words_per_second"]
    return (
        by_stage(bench)
        + f"\nA cold start with {bench['start']['words']:,} words takes {sum(start.values()) / warm:.1f} times as long "
        + f"as the same words in a running process: {parts}. From file to file, cappunc reaches "
        + f"{100 * report['share_of_int8_rate']:.0f} % of the rate at which the cores multiply 8-bit "
        + f"matrices of the model's shapes. Shares of the graph's time: {operators}.\n\n"
        + table([f"{files['words']:,} words in", "pace", "memory"], rows)
        + note(report, "cpu.json")
    )


def peers(report: dict[str, Any]) -> str:
    """How many times as fast as each other system cappunc is, from SRT to SRT, in one run on one machine."""
    rows = [_paced(row, report, 1) for row in report["systems"]]
    return (
        "Other systems run at their true size with random weights, so only speed is compared; they get plain words, "
        "without a file around them.\n\n"
        + table(["system", "weights", "cappunc is faster, times"], rows)
        + _own_models(report)
        + note(report, "peers.json")
    )


def _paced(row: dict[str, Any], report: dict[str, Any], digits: int) -> list[str]:
    """A system, its weights in millions with so many digits, and how many times as fast as it cappunc is."""
    weights = f"{row['weights'] / 1e6:,.{digits}f} M" if row["weights"] else "–"
    return [row["system"], weights, f"{report['systems'][0]['words_per_second'] / row['words_per_second']:,.1f}"]


def _own_models(report: dict[str, Any]) -> str:
    """The time that each of our models takes for a talk, and its speed relative to the last other system."""
    if "talk" not in report:
        return ""
    seconds = report["talk"]["seconds"]
    pace = {row["system"]: row["words_per_second"] for row in report["systems"]}
    # The first model is the one that the others are compared with.
    ours = {model: "cappunc" if i == 0 else f"cappunc {model}" for i, model in enumerate(seconds)}
    other = report["systems"][-1]["system"]
    rows = [
        [f"`{model}`", f"{pace[f'{name}, SRT to SRT'] / pace[other]:.1f}", f"{seconds[model]:.2f} s"]
        for model, name in ours.items()
    ]
    title = f"`cappunc fix` of {report['talk']['words']:,} words, start included"
    return "\n" + table(["model", f"times as fast as {other}", title], rows)


def compare(report: dict[str, Any]) -> str:
    """One sentence: how many times as fast as networks of other libraries' sizes the first model is, SRT to SRT."""
    rows = [_paced(row, report, 0) for row in report["systems"] if row["system"].startswith(_COMPARED)]
    others = (f"{pace} times as fast as {system} ({weights} weights)" for system, weights, pace in rows)
    model = model_of(report["model"]["name"], report["model"]["sha256"][:12])
    return (
        f"On {report['hardware']['cores']} CPU cores, from SRT to SRT, cappunc with {model} is {'; '.join(others)} "
        "(all with random weights, on plain words; [peers.json](../tests/benchmarks/results/peers.json)).\n"
    )


def stream(report: dict[str, Any]) -> str:
    """What live captions lose and cost by engine and look-ahead, compared with a whole file."""
    rows, usual = report["rows"], report["rows"]["fix"]["microseconds"]
    names = {engine: f"`{model.partition('@')[0]}`" for engine, model in report["models"].items()}
    cost = ["processor time", "work, ms: median", "p99", "wait, ms"]

    def told(row: dict[str, Any]) -> list[str]:
        if "look_ahead" not in row:
            return [f"{names[row['engine']]}, whole file (`fix`)"]
        at_a_time = f", {row['every']} at a time" if row["every"] > 1 else ""
        return [f"{names[row['engine']]}, {row['look_ahead']} words{at_a_time}"]

    def shown(row: dict[str, Any], titles: Sequence[str]) -> list[str]:
        scores = [row["scores"][title] for title in titles]
        return [f"{100 * score[key]:.1f}" for score in scores for key in ("micro", "boundary", "case") if key in score]

    parts = []
    for kind, titles in report["sets"].items():
        usual_scores = rows["fix"]["scores"]
        columns = {"micro": "marks", "boundary": "ends", "case": "case"}
        head = [f"{title}: {name}" for title in titles for key, name in columns.items() if key in usual_scores[title]]
        words = ", ".join(f"{report['words'][title]:,} of {title}" for title in titles)
        lines = [told(row) + shown(row, titles) for row in rows.values()]
        parts.append(f"Sets for {kind} ({words}); F1 in per cent:\n\n" + table(["", *head], lines))
    lines = [
        [
            *told(row),
            f"{row['microseconds'] / usual:.1f}",
            *((f"{row['work_ms']['median']:.1f}", f"{row['work_ms']['p99']:.1f}") if "work_ms" in row else ("–", "–")),
            f"{row['wait_ms']:,}" if row.get("wait_ms") is not None else "–",
        ]
        for row in rows.values()
    ]
    parts.append(
        "Processor time per word (`fix` is 1), the time to process a word, and the average wait until the words of its "
        "look-ahead are spoken:\n\n" + table(["", *cost], lines)
    )
    return "\n".join(parts) + note({**report, "model": report["models"]["gru"]}, "stream.json")


def many_streams(report: dict[str, Any]) -> str:
    """How long words wait if many streams share one process, and the memory of one stream over hours."""
    waits, held = report["wait_ms"], report["memory_mb"]
    head = ["streams", "words", "median, ms", "p95", "p99", "maximum", "processor time per word, ms", "cores"]
    cells = [
        f"{report['streams']}",
        f"{report['words']:,}",
        *(f"{waits[part]:.0f}" for part in ("50", "95", "99", "100")),
        f"{report['processor_ms_a_word']:.2f}",
        f"{report['cores_busy']:.2f}",
    ]
    return (
        f"At the pace of speech for {report['seconds']:.0f} seconds: the time from the end of the last of the "
        f"{report['look_ahead']} words of a word's look-ahead until the client has the word, and the number of cores "
        "that the server uses:\n\n"
        + table(head, [cells])
        + f"\n{report['hours']} hours of speech in one stream ({report['words_in_hours']:,} words): {held[0]:.0f} MB "
        + f"before it, {held[1]:.0f} MB after the first hour, {held[-1]:.0f} MB after the last.\n"
        + note(report, "websockets_live.json")
    )


def languages(report: dict[str, Any]) -> str:
    """The speed of every model relative to the trigram model of Romanian."""
    rows = report["rows"]
    base = next(row["words_per_second"] for row in rows if (row["language"], row["engine"]) == ("ro", "ngram"))
    paces = {(row["language"], row["engine"]): f"{row['words_per_second'] / base:.2f}" for row in rows}
    codes = list(dict.fromkeys(row["language"] for row in rows))
    lines = [[code, *(paces.get((code, engine), "–") for engine in ("onnx", "ngram"))] for code in codes]
    models = ", ".join(model_of(name, digest) for name, digest in report["models"].items())
    return (
        "Words per second, where the trigram model of Romanian is 1:\n\n"
        + table(["language", "network", "trigrams"], lines)
        + f"\n{in_short(report['hardware'])}; models {models}; {source(report, 'languages.json')}"
    )


def own(report: dict[str, Any]) -> str:
    """A custom model: its scores and how long the training took."""
    marks = ("micro", "comma", "period", "question", "case")
    rows = [
        [name, *(f"{100 * row['scores'][mark]:.1f}" for mark in marks), f"{row['minutes']:.0f}"]
        for name, row in report["rows"].items()
    ]
    return (
        f"A French model trained on {report['words']:,} words of old novels, scored on other novels "
        f"(`{report['reference']}`); F1 in per cent:\n\n"
        + table(["", "marks , . ?", "`,`", "`.`", "`?`", "case", "minutes"], rows)
        + f"\n{in_short(report['hardware'])}; {source(report, 'own.json')}"
    )


def layout(report: dict[str, Any]) -> str:
    """Where captions and lines end, filled greedily and by the layout: shares of the captions or line breaks."""
    rows, breaks = report["rows"], ("line breaks", "line breaks amid what belongs together")
    names = [name for name in rows["layout"] if name not in ("captions", *breaks)]
    lines = [["captions", *(f"{row['captions']:,}" for row in rows.values())]]
    within = ("amid what belongs together", "within a phrase")
    lines += [
        [name.replace(*within), *(f"{100 * row[name] / row['captions']:.1f} %" for row in rows.values())]
        for name in names
    ]
    shares = (f"{100 * row[breaks[1]] / row[breaks[0]]:.1f} %" for row in rows.values())
    lines.append([breaks[1].replace(*within), *shares])
    return (
        f"{report['words']:,} words of earnings calls with human marks and real times (Earnings-21), cut by filling "
        "each line and each caption, and by `cappunc captions`:\n\n"
        + table(["", *("filled" if name == "greedy" else "cappunc" for name in rows)], lines)
        + f"\nF{source(report, 'layout.json')[1:]}"
    )


def conversions(report: dict[str, Any]) -> str:
    """How many files of each format become each other format: equal, rounded, refused; and why they are refused."""
    kinds = list(next(iter(report["table"].values())))
    reasons: Counter[str] = Counter()
    rows = []
    for name, by_kind in sorted(report["table"].items()):
        cells = []
        for kind in kinds:
            refused = {why: count for why, count in by_kind[kind].items() if why.startswith("refused: ")}
            reasons.update(refused)
            counts = [by_kind[kind].get("equal", 0), by_kind[kind].get("rounded", 0), sum(refused.values())]
            cells.append("/".join(map(str, counts)))
        rows.append([name, *cells])
    why = "".join(f"- {count:,}: {name.removeprefix('refused: ')}\n" for name, count in reasons.most_common())
    return (
        f"{report['files']:,} files from elsewhere, compared by independent readers; results that lost text or times: "
        f"{len(report['lost'])}. Each cell counts the results that are equal, those equal but for rounded times, and "
        "refusals:\n\n"
        + table(["from", *kinds], rows)
        + f"\nWhy they are refused:\n\n{why}\nF{source(report, 'convert.json')[1:]}"
    )


#: Generated part -> the page that has it, and the functions that render its result files.
PARTS = {
    "compare": ("README.md", {"peers.json": compare}),
    "speed": ("docs/benchmarks.md", {"cpu.json": cpu, "peers.json": peers, "languages.json": languages}),
    "repair": ("docs/check.md", {"stretches.json": studies.repair}),
    "forms": ("docs/benchmarks.md", {"forms.json": studies.forms}),
    "agreement": ("docs/check.md", {"agreement.json": studies.agreement}),
    "half-marked": (
        "docs/check.md",
        {f"half_marked{name}.json": studies.half_marked for name in ("", "_en", "_es", "_de")},
    ),
    "marks_from": (
        "docs/fix.md",
        {"marks_from.json": studies.marks_from, "marks_from_speed.json": studies.marks_from_speed},
    ),
    "review": ("docs/review.md", {"review.json": studies.review}),
    "own": ("docs/train.md", {"own.json": own}),
    "captions": ("docs/benchmarks.md", {"captions.json": studies.captions}),
    "layout": ("docs/captions.md", {"layout.json": layout}),
    "stream": ("docs/stream.md", {"stream.json": stream}),
    "streams": ("docs/stream.md", {"websockets_live.json": many_streams}),
    "chunks": ("docs/systems.md", {"chunks.json": studies.chunks}),
    "diacritics": ("docs/systems.md", {"diacritics.json": studies.diacritics}),
    "ngrams": ("docs/systems.md", {"ngrams.json": studies.ngrams}),
    "pauses": ("docs/systems.md", {"drawn_pauses.json": studies.drawn_pauses}),
    "penalty": ("docs/systems.md", {"penalty.json": studies.penalty}),
    "mends": ("docs/benchmarks.md", {"mends.json": studies.mends}),
    "convert": ("docs/convert.md", {"convert.json": conversions}),
    "quotes": ("docs/benchmarks.md", {"quotes.json": studies.quotes}),
    "film": ("docs/benchmarks.md", {"film.json": studies.film}),
    "other-languages": ("docs/models.md", {"other_languages.json": studies.other_languages}),
}


def page(part: str, results: Path = RESULTS) -> str:
    """The text of a part, from those of its result files that exist, with links relative to its page."""
    place, makers = PARTS[part]
    found = [
        make(json.loads((results / name).read_text("utf-8")))
        for name, make in makers.items()
        if (results / name).exists()
    ]
    text = "\n".join(found)
    return text if "/" in place else text.replace("](../", "](")


def main() -> None:
    for part, (name, _) in PARTS.items():
        place = ROOT / name
        begin, end = f"<!-- begin:{part} -->\n", f"<!-- end:{part} -->"
        head, _, rest = place.read_text("utf-8").partition(begin)
        place.write_text(head + begin + page(part) + end + rest.partition(end)[2], "utf-8")


if __name__ == "__main__":
    main()
