"""Write the README's parts on speed and repair from tests/benchmarks/results/*.json.

python tests/benchmarks/tables.py
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

from cappunc_cli.benchmark.hardware import in_short

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
#: Words in a stretch, as stretches.py counts them.
_LENGTHS = ("20-49", "50-119", "120-400")


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown, numbers to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def note(report: dict[str, Any], file: str) -> str:
    machine, model = report["hardware"], report.get("model") or report["bench"]["model"]
    if isinstance(model, str):
        name, _, digest = model.partition("@")
    else:
        name, digest = model["name"], (model["sha256"] or "no hash")[:12]
    return (
        f"\n{machine['gpu'] or machine['cpu']}, {machine['cores']} cores; model `{name}` ({digest}); "
        f"from [{file}](tests/benchmarks/results/{file}), `{report['command']}`.\n"
    )


def by_stage(bench: dict[str, Any], absolute: bool = True) -> str:
    """Where the time of each file goes; the pace in words per second, or as a multiple of the first file's."""
    stages = list(next(iter(bench["inputs"].values()))["shares"])
    base = 1.0 if absolute else next(iter(bench["inputs"].values()))["words_per_second"]
    rows = [
        [
            name,
            f"{found['words_per_second'] / base:,.{0 if absolute else 2}f}",
            *(f"{100 * found['shares'][stage]:.0f} %" for stage in stages),
        ]
        for name, found in bench["inputs"].items()
    ]
    return table(["file", "words/s" if absolute else "pace", *stages], rows)


def cpu(report: dict[str, Any]) -> str:
    """Stages, cold start, files, memory, ceiling: shares and ratios, for seconds are those of one machine."""
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
        by_stage(bench, absolute=False)
        + f"\nA cold start with {bench['start']['words']:,} words takes {sum(start.values()) / warm:.1f} times as long "
        + f"as the same words in a running process: {parts}. From file to file "
        + f"{100 * report['share_of_int8_rate']:.0f} % of the rate is reached at which the cores multiply 8-bit "
        + f"matrices of the model's shapes. Of the graph's time: {operators}.\n\n"
        + table([f"{files['words']:,} words in", "pace", "memory"], rows)
        + note(report, "cpu.json")
    )


def steps(report: dict[str, Any]) -> str:
    """F1 of each way to work out the products, and how many times as fast as the first it is."""
    first = next(iter(report["rows"].values()))
    sets = [name for name, found in first.items() if isinstance(found, dict)]
    window = first[sets[0]]["signature"].partition("|window:")[2].partition("|")[0]
    rows = [
        [
            name,
            *(f"{100 * row[title]['micro']:.2f}" if title in row else "–" for title in sets),
            *(f"{first[time] / row[time]:.2f}" for time in ("microseconds_per_piece", "microseconds_per_word")),
        ]
        for name, row in report["rows"].items()
    ]
    return (
        "What each step of the 8-bit products costs in micro-F1, and how many times as fast as the first it is, by "
        f"processor time of one thread, in the graph alone and from SRT to SRT, all with windows of {window}:\n\n"
        + table(["products", *sets, "graph", "whole"], rows)
        + note(report, "steps.json")
    )


def peers(report: dict[str, Any]) -> str:
    """How many times as fast as every other system cappunc is, from SRT to SRT, in one run on one machine."""
    ours = report["systems"][0]["words_per_second"]
    rows = [
        [
            row["system"],
            f"{row['weights'] / 1e6:,.1f} M" if row["weights"] else "–",
            f"{ours / row['words_per_second']:,.1f}",
        ]
        for row in report["systems"]
    ]
    return (
        "Peers run at their true size with random weights, so this compares speed alone; they get plain words.\n\n"
        + table(["system", "weights", "cappunc is faster, times"], rows)
        + note(report, "peers.json")
    )


def gpu(report: dict[str, Any]) -> str:
    """Stages, and the tree by worker processes."""
    rows = [
        [str(row["jobs"]), f"{row['words_per_second']:,}", f"{row.get('gpu_percent', 0):.0f} %"]
        for row in report["tree"]
    ]
    return by_stage(report["bench"]) + "\n" + table(["--jobs", "words/s", "GPU busy"], rows) + note(report, "gpu.json")


def repair(report: dict[str, Any]) -> str:
    """What is found, by kind and length of the stretch, and what comes back."""

    def percent(scores: dict[str, Any]) -> list[str]:
        return [f"{100 * scores[key]:.1f}" for key in ("precision", "recall", "f1")]

    found, inside, recall = report["found"], report["restored inside"], report["recall by kind and length"]
    clean, changes = report["untouched documents"], report["changes"]["auto"]
    rows = [[f"found: lacks {name}", f"{scores['words']:,}", *percent(scores)] for name, scores in found.items()]
    for name in sorted(inside, key=lambda name: not name.startswith("micro")):
        title = name.replace("micro", "marks") if len(name) > 1 else f"`{name}`"
        rows.append([f"restored inside: {title}", f"{inside[name]['words']:,}", *percent(inside[name])])
    kinds = dict.fromkeys(name.rpartition(", ")[0] for name in recall)
    by_length = [
        [kind, *(f"{100 * recall[f'{kind}, {length} words']['recall']:.1f}" for length in _LENGTHS)] for kind in kinds
    ]
    return (
        f"{report['words']:,} words of good transcripts, with stretches of 20 to 400 words stripped out of them in "
        "several ways. Per word, in per cent:\n\n"
        + table(["", "words", "precision", "recall", "F1"], rows)
        + "\nRecall by what was taken and the length of the stretch:\n\n"
        + table(["taken", *(f"{length} words" for length in _LENGTHS)], by_length)
        + f"\nOf the untouched documents {100 * clean['blamed'] / clean['words']:.2f} % of the words are blamed. "
        + f"Of what was there, {changes['marks there changed']} of {changes['marks there']:,} marks and "
        + f"{changes['capitals there changed']} of {changes['capitals there']:,} capitals were changed; "
        + f"{changes['words outside changed']} of {changes['words outside']:,} words outside the stretches got "
        + "marks or case of their own.\n"
        + note(report, "stretches.json")
    )


def captions(report: dict[str, Any]) -> str:
    """What the ends of captions are worth, by corpus and by where they end."""
    cuts = {"at_sentences": "where sentences end", "anywhere": "when the line is full"}
    texts: dict[str, list[str]] = {}
    for name in report["rows"]:
        texts.setdefault(name.partition("/")[0], []).append(name)

    def mean(names: list[str], cut: str, way: str, key: str) -> str:
        return f"{100 * fmean(report['rows'][name][cut][way][key] for name in names):.1f}"

    columns = [(key, way) for key in ("micro", "boundary") for way in ("without", "with")]
    rows = [
        [", ".join(names), title, *(mean(names, cut, way, key) for key, way in columns)]
        for cut, title in cuts.items()
        for names in texts.values()
    ]
    head = ["texts", "captions end", "marks , . ?", "with their ends", "sentence ends", "with their ends"]
    return (
        "Held-out ends of training corpora in captions, mean F1 in per cent without the evidence of where these end "
        "and with it:\n\n"
        + table(head, rows)
        + f"\n{in_short(report['hardware'])}; from "
        + f"[captions.json](tests/benchmarks/results/captions.json), `{report['command']}`.\n"
    )


def stream(report: dict[str, Any]) -> str:
    """What live captions lose and cost by their look-ahead, beside a whole file."""
    rows = report["rows"]
    sets = list(rows["fix"])

    def cost(name: str) -> float:
        return fmean(rows[name][title]["microseconds"] for title in sets)

    lines = [
        [
            "whole file, `fix`" if name == "fix" else f"{name} words",
            *(f"{100 * row[title][key]:.1f}" for title in sets for key in ("micro", "boundary")),
            f"{cost(name) / cost('fix'):.0f}",
        ]
        for name, row in rows.items()
    ]
    head = ["look-ahead", *(column for title in sets for column in (f"{title}: marks , . ?", "sentence ends"))]
    words = ", ".join(f"{count:,} of {title}" for title, count in report["words"].items())
    return (
        f"Words: {words}. F1 in per cent, the processor time of a word where that of `fix` is 1; "
        "rows within three points of each other are alike:\n\n"
        + table([*head, "time"], lines)
        + note(report, "stream.json")
    )


def languages(report: dict[str, Any]) -> str:
    """Every model's pace beside the trigram model of Romanian, the first of its kind."""
    rows = report["rows"]
    base = next(row["words_per_second"] for row in rows if (row["language"], row["engine"]) == ("ro", "ngram"))
    paces = {(row["language"], row["engine"]): f"{row['words_per_second'] / base:.2f}" for row in rows}
    codes = list(dict.fromkeys(row["language"] for row in rows))
    lines = [[code, *(paces.get((code, engine), "–") for engine in ("onnx", "ngram"))] for code in codes]
    models = ", ".join(f"`{name}` ({digest})" for name, digest in report["models"].items())
    return (
        "Words per second, where the trigram model of Romanian is 1:\n\n"
        + table(["language", "network", "trigrams"], lines)
        + f"\n{in_short(report['hardware'])}; models {models}; from "
        + f"[languages.json](tests/benchmarks/results/languages.json), `{report['command']}`.\n"
    )


def own(report: dict[str, Any]) -> str:
    """A language of one's own: how long it took, what came of it."""
    marks = ("micro", "comma", "period", "question", "case")
    rows = [
        [name, *(f"{100 * row['scores'][mark]:.1f}" for mark in marks), f"{row['minutes']:.0f}"]
        for name, row in report["rows"].items()
    ]
    return (
        f"French, which is not shipped, from {report['words']:,} words of old novels, scored on others "
        f"(`{report['reference']}`), F1 in per cent:\n\n"
        + table(["", "marks , . ?", "`,`", "`.`", "`?`", "case", "minutes"], rows)
        + f"\n{in_short(report['hardware'])}; from "
        + f"[own.json](tests/benchmarks/results/own.json), `{report['command']}`.\n"
    )


def layout(report: dict[str, Any]) -> str:
    """Where captions and lines end, greedily and by the layout: shares of the captions, or of the line breaks."""
    rows, breaks = report["rows"], ("line breaks", "line breaks amid what belongs together")
    names = [name for name in rows["layout"] if name not in ("captions", *breaks)]
    lines = [["captions", *(f"{row['captions']:,}" for row in rows.values())]]
    lines += [[name, *(f"{100 * row[name] / row['captions']:.1f} %" for row in rows.values())] for name in names]
    lines.append([breaks[1], *(f"{100 * row[breaks[1]] / row[breaks[0]]:.1f} %" for row in rows.values())])
    return (
        f"{report['words']:,} words of earnings calls, human marks and real times (Earnings-21), cut by filling each "
        "line and each caption, and as `cappunc captions` cuts them:\n\n"
        + table(["", *("filled" if name == "greedy" else "cappunc" for name in rows)], lines)
        + "\nFrom [layout.json](tests/benchmarks/results/layout.json), "
        + f"`{report['command']}`.\n"
    )


def review(report: dict[str, Any]) -> str:
    """By threshold: of how many words a place is listed, how many of these are wrong, how much of what is wrong."""
    sets = report["rows"]

    def rows(kind: str, title: str) -> list[list[str]]:
        return [
            [f"{title}, below {100 * float(below):.0f} %", *(_found(found[kind][below]) for found in sets.values())]
            for below in next(iter(sets.values()))[kind]
        ]

    words = ", ".join(f"{found['words']:,} of {title}" for title, found in sets.items())
    return (
        f"Words that `fix` restored: {words}; the default was chosen on the first two sets. In per cent: "
        "words listed / wrong of these / listed of all that is wrong:\n\n"
        + table(["", *sets], [*rows("mark", "marks"), *rows("case", "capitals within sentences")])
        + note(report, "review.json")
    )


def _found(found: dict[str, float]) -> str:
    if not round(found["listed"], 3):
        return "–"
    return f"{100 * found['listed']:.1f} / {100 * found['wrong']:.0f} / {100 * found['found']:.0f}"


#: Part of the README -> results -> what makes a page of them.
PARTS = {
    "speed": {"cpu.json": cpu, "steps.json": steps, "peers.json": peers, "gpu.json": gpu, "languages.json": languages},
    "repair": {"stretches.json": repair},
    "review": {"review.json": review},
    "own": {"own.json": own},
    "captions": {"captions.json": captions},
    "layout": {"layout.json": layout},
    "stream": {"stream.json": stream},
}


def page(part: str, results: Path = RESULTS) -> str:
    """All of a part whose results are there."""
    found = [
        make(json.loads((results / name).read_text("utf-8")))
        for name, make in PARTS[part].items()
        if (results / name).exists()
    ]
    return "\n".join(found)


def main() -> None:
    readme = ROOT / "README.md"
    text = readme.read_text("utf-8")
    for part in PARTS:
        begin, end = f"<!-- begin:{part} -->\n", f"<!-- end:{part} -->"
        head, _, rest = text.partition(begin)
        text = head + begin + page(part) + end + rest.partition(end)[2]
    readme.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
