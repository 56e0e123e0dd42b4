"""Write the generated tables of the README and of docs/ from tests/benchmarks/results/*.json.

python tests/benchmarks/tables.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from cappunc_cli.features.bench.hardware import in_short

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results"
#: Prefixes of the systems in the README's comparison.
_COMPARED = ("cappunc, SRT", "cappunc en, SRT", "punctuators", "BERT-base, rpunct", "deepmultilingual")
#: Lengths of stretches in words, as stretches.py groups them.
_LENGTHS = ("20-49", "50-119", "120-400")


def other_languages(report: dict[str, Any]) -> str:
    """F1 in languages that the model was not trained on, with and without the times of the captions."""

    def shown(scores: dict[str, Any]) -> list[str]:
        return [f"{100 * scores[name]:.1f}" if name in scores else "–" for name in ("micro", "boundary", "case")]

    kinds = ["marks , . ?", "sentence ends", "case"]
    rows = [
        [code, f"{row['times']['words']:,}", *shown(row["times"]), *shown(row["no times"])]
        for code, row in report["rows"].items()
    ]
    titles = ["language", "words", *kinds, *(f"{kind}, no times" for kind in kinds)]
    return table(titles, rows) + note(report, "other_languages.json")


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table with numbers aligned to the right."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def note(report: dict[str, Any], file: str) -> str:
    machine, model = report["hardware"], report.get("model") or report["bench"]["model"]
    if isinstance(model, str):
        name, _, digest = model.partition("@")
    else:
        name, digest = model["name"], (model["sha256"] or "no hash")[:12]
    where = f"{machine['gpu'] or machine['cpu']}, {machine['cores']} cores"
    return f"\n{where}; model {model_of(name, digest)}; {source(report, file)}"


def source(report: dict[str, Any], file: str) -> str:
    return f"from [{file}](../tests/benchmarks/results/{file}), `{report['command']}`.\n"


def model_of(name: str, digest: str) -> str:
    """The model that was measured, by its current name: names are given to better models, hashes are not."""
    shipped = {
        file[:12]: path.parent.name
        for path in sorted((ROOT / "models").glob("*/config.json"))
        for file in json.loads(path.read_text("utf-8"))["files"].values()
    }
    if shipped.get(digest, name) != name:
        return f"`{shipped[digest]}` ({digest}), then called `{name}`"
    if name in shipped.values() and digest not in shipped:
        return f"`{name}` of an earlier version ({digest})"
    return f"`{name}` ({digest})"


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
        "Other systems run at their true size with random weights, so only speed is compared; they get plain words, "
        "without a file around them.\n\n"
        + table(["system", "weights", "cappunc is faster, times"], rows)
        + _own_models(report)
        + note(report, "peers.json")
    )


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
    """The time per word of networks of other libraries' sizes, as a multiple of ours from SRT to SRT."""
    ours = report["systems"][0]["words_per_second"]
    rows = [
        [
            row["system"],
            f"{row['weights'] / 1e6:,.0f} M" if row["weights"] else "–",
            f"{ours / row['words_per_second']:.1f}",
        ]
        for row in report["systems"]
        if row["system"].startswith(_COMPARED)
    ]
    return (
        table(["", "weights", "time per word"], rows)
        + "\nThe others run at their true size with random weights, so only speed is compared; "
        + "they get plain words."
        + note(report, "peers.json").replace("\n", " ", 1)
    )


def repair(report: dict[str, Any]) -> str:
    """What is found, by kind and length of the stretch, and what is restored."""

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
        f"{report['words']:,} words of good transcripts, in which stretches of 20 to 400 words were stripped of marks "
        "or case in several ways. Per word, in per cent:\n\n"
        + table(["", "words", "precision", "recall", "F1"], rows)
        + "\nRecall by what was removed and by the length of the stretch:\n\n"
        + table(["removed", *(f"{length} words" for length in _LENGTHS)], by_length)
        + f"\nIn untouched documents, {100 * clean['blamed'] / clean['words']:.2f} % of the words are wrongly "
        + "reported. "
        + f"Of the existing labels, {changes['marks there changed']} of {changes['marks there']:,} marks and "
        + f"{changes['capitals there changed']} of {changes['capitals there']:,} capitals were changed; "
        + f"{changes['words outside changed']} of {changes['words outside']:,} words outside the stretches got "
        + "new marks or case.\n"
        + note(report, "stretches.json")
    )


def half_marked(report: dict[str, Any]) -> str:
    """F1 of the marks that auto, keep and replace make of texts from which marks were taken."""
    modes = ("auto", "keep", "replace")
    rows = [
        [name, *(f"{by_mode[mode][key]:.1f}" for key in ("marks", "capitals") for mode in modes)]
        for name, by_mode in report["mean"].items()
    ]
    texts = ", ".join(report["texts"])
    changed = ", ".join(f"{text['nothing']['auto']['changed']:.1f}" for text in report["texts"].values())
    return (
        f"Mean F1 of `, . ?` and of capitals over 4,000 words each of {texts}, from which marks were taken:\n\n"
        + table(["taken out", *modes, *(f"capitals: {mode}" for mode in modes)], rows)
        + f"\nOf 1,000 words of each whole text, auto changes {changed}.\n"
        + note(report, f"half_marked{'_en' if report['model'].startswith('en@') else ''}.json")
    )


def captions(report: dict[str, Any]) -> str:
    """What caption breaks are worth as evidence, by corpus and by where captions end."""
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
    head = ["texts", "captions end", "marks , . ?", "with the breaks", "sentence ends", "with the breaks"]
    return (
        "Held-out ends of training corpora, cut into captions; mean F1 in per cent without and with the caption breaks "
        "as evidence:\n\n" + table(head, rows) + f"\n{in_short(report['hardware'])}; {source(report, 'captions.json')}"
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
        "each line and each caption, and as `cappunc captions` cuts them:\n\n"
        + table(["", *("filled" if name == "greedy" else "cappunc" for name in rows)], lines)
        + f"\nF{source(report, 'layout.json')[1:]}"
    )


def review(report: dict[str, Any]) -> str:
    """By threshold: the share of words listed, of these that are wrong, and of all mistakes that are listed."""
    sets = report["rows"]

    def rows(kind: str, title: str) -> list[list[str]]:
        return [
            [f"{title}, below {100 * float(below):.0f} %", *(_found(found[kind][below]) for found in sets.values())]
            for below in next(iter(sets.values()))[kind]
        ]

    words = ", ".join(f"{found['words']:,} of {title}" for title, found in sets.items())
    return (
        f"Words that `fix` restored: {words}; the default threshold was chosen on the first two sets. In per cent: "
        "words that are listed / of these, wrong (precision) / of all mistakes, listed (recall):\n\n"
        + table(["", *sets], [*rows("mark", "marks"), *rows("case", "capitals within sentences")])
        + note(report, "review.json")
    )


def chunks(report: dict[str, Any]) -> str:
    """Precision, recall and F1 of the classes of Nguyen et al. with and without overlap, and F1 by `min_words_cut`."""
    rows = report["rows"]
    windows = sorted({row["window"] for row in rows})
    classes = list(rows[0]["classes"])

    def line(title: str, row: dict[str, Any]) -> list[str]:
        cells = ["/".join(f"{100 * figure:.1f}" for figure in row["classes"][name]) for name in classes]
        return [title, *cells, f"{100 * row['micro']:.1f}", f"{100 * row['case']:.1f}"]

    merged, cut = [], []
    for window in windows:
        own = [row for row in rows if row["window"] == window]
        (side,) = (row for row in own if not row["overlap"])
        half = [row for row in own if row["overlap"] == window // 2]
        middle = min(half, key=lambda row: abs(row["min_words_cut"] - window / 4))
        merged += [line(f"k = {window}, no overlap", side), line(f"k = {window}, half of it shared", middle)]
        for overlap in sorted({row["overlap"] for row in own} - {0}):
            by_cut = {row["min_words_cut"]: row["micro"] for row in own if row["overlap"] == overlap}
            places = [min(by_cut, key=lambda cut, at=at: abs(cut - overlap * at / 4)) for at in range(5)]  # type: ignore[misc]
            best = max(by_cut, key=lambda cut: by_cut[cut])
            cells = [f"{100 * by_cut[place]:.2f}" for place in places]
            cut.append([f"k = {window}, {overlap} shared", *cells, f"{best} ({100 * by_cut[best]:.2f})"])
    texts = ", ".join(f"{words:,} words of {name}" for name, words in report["texts"].items())
    return (
        f"On {texts}. Precision/recall/F1 in per cent of the classes in the paper, then micro-F1 over `, . ?` "
        "and F1 of capitals; overlaps are cut in the middle:\n\n"
        + table(["", *classes, "`, . ?`", "case"], merged)
        + "\nMicro-F1 over `, . ?` by `min_words_cut`, as a share of the overlap, and the best cut:\n\n"
        + table(["", "none of it", "a quarter", "half", "three quarters", "all of it", "best"], cut)
        + note(report, "chunks.json")
    )


def diacritics(report: dict[str, Any]) -> str:
    """The share of correct words without diacritics and with restored ones."""
    rows = [
        [
            name,
            f"{found['words']:,}",
            f"{found['with diacritics']:,}",
            *(f"{100 * found[when] / found['words']:.1f}" for when in ("right before", "right after")),
            f"{100 * found['spoilt'] / found['right before']:.1f}",
        ]
        for name, found in report["rows"].items()
    ]
    return (
        "Correct words in per cent, and the share of correct words that the restoration spoilt:\n\n"
        + table(["set", "words", "with diacritics", "typed without", "restored", "spoilt"], rows)
        + f"\nModels {_hashes(report)}; {source(report, 'diacritics.json')}"
    )


def drawn_pauses(report: dict[str, Any]) -> str:
    """F1 of marks and capitals without pauses, with pauses, and with shuffled pauses."""
    rows = []
    for name, found in report["rows"].items():
        row = [name]
        for key in ("micro", "case"):
            row += [
                f"{100 * found[how][key]:.1f}" if key in found[how] else "–" for how in ("hidden", "shown", "shuffled")
            ]
        rows.append(row)
    return (
        "F1 in per cent over `, . ?` and of capitals, without pauses, with them, and with them shuffled within "
        "the text:\n\n"
        + table(["text", "none", "pauses", "shuffled", "case: none", "pauses", "shuffled"], rows)
        + f"\nModels {_hashes(report)}; {source(report, 'drawn_pauses.json')}"
    )


def _hashes(report: dict[str, Any]) -> str:
    return ", ".join(f"`{name}` ({digest})" for name, digest in report["models"].items())


def ngrams(report: dict[str, Any]) -> str:
    """F1 of the shipped trigram model of a language and of a larger one trained on the same texts."""
    first, second = report["models"].values()
    rows = []
    for name, one in first["rows"].items():
        other = second["rows"][name]
        rows.append([name, *(f"{100 * one[key]:.1f} → {100 * other[key]:.1f}" for key in one)])
    sizes = " → ".join(
        f"{model['bytes'] / 1e6:.1f} MB, {model['pairs']:,} bigrams, {model['triples']:,} trigrams"
        for model in (first, second)
    )
    return (
        f"The shipped model → one that keeps every bigram and trigram seen more than once ({sizes}); F1 in per cent "
        f"on the first {report['words']:,} words of each set:\n\n"
        + table(["set", "`, . ?`", "`,`", "`.`", "case"], rows)
        + f"\n{in_short(report['hardware'])}; {source(report, 'ngrams.json')}"
    )


def penalty(report: dict[str, Any]) -> str:
    """The effect of the penalty for contradictions on the recurrent network."""
    rows = [
        [
            f"penalty {row['penalty']:g}, seed {row['seed']}",
            *(f"{row[key]:.1f}" for key in ("micro", "case", "contradicting")),
        ]
        for row in report["rows"]
    ]
    first = report["rows"][0]
    return (
        f"Runs of {report['tokens']:,} pieces without a teacher, scored by argmax on held-out ends of "
        f"{', '.join(first['corpora'])}: F1 in per cent over `, . ?` and of case, and the percentage of sentence ends "
        f"before lower case ({first['in the text']:.1f} in the text):\n\n"
        + table(["", "`, . ?`", "case", "contradictions"], rows)
        + f"\n{in_short(report['hardware'])}; {source(report, 'penalty.json')}"
    )


def mends(report: dict[str, Any]) -> str:
    """Corrections that an editor has to make in each evaluation set with each model, then in all sets by kind."""
    runs = report["runs"]
    sets = list(next(iter(runs.values()))["sets"])
    kinds = [kind for kind in runs["after"]["sets"][sets[0]] if kind not in ("words", "all edits")]

    def row(label: str, kind: str, names: list[str]) -> list[str]:
        of = {run: [found["sets"][name] for name in names] for run, found in runs.items()}
        words = sum(one["words"] for one in of["after"])
        return [label, *(f"{1000 * sum(one[kind] for one in found) / words:.1f}" for found in of.values())]

    rows = [row(name, "all edits", [name]) for name in sets] + [row("**all**", "all edits", sets)]
    rows += [
        row(kind, kind, sets) for kind in kinds if any(run["sets"][n][kind] for run in runs.values() for n in sets)
    ]
    words = ", ".join(f"{name} {runs['after']['sets'][name]['words']:,}" for name in sets)
    models = "; ".join(
        f"{run}: {model_of(*found['model'].split('@'))}"
        + (f", at commit {found['commit']}" if "commit" in found else "")
        for run, found in runs.items()
    )
    return (
        table(["per 1,000 words", *runs], rows)
        + f"\nWords: {words}. {models}. {in_short(report['hardware'])}; {source(report, 'mends.json')}"
    )


def film(report: dict[str, Any]) -> str:
    """Mistakes at the ends of captions by run, and within captions for the last run."""
    shown = ("ends missed", "ends superfluous", "questions missed", "questions superfluous")
    within = ("within", "within missed", "within superfluous")
    last = list(report.values())[-1]
    rows = [
        [name, *(f"{found[kind]:,}" for kind in ("captions", "ends", "questions"))]
        + [" → ".join(str(run["rows"][name][kind]) for run in report.values()) for kind in shown]
        + [f"{found[kind]:,}" for kind in within]
        for name, found in last["rows"].items()
    ]
    models = ", ".join(model_of(*found) for found in last["models"].items())
    return (
        table(["text", "captions", "end a sentence", "questions", *shown, *within], rows)
        + f"\n{' → '.join(report)}. Models {models}; {in_short(last['hardware'])}; {source(last, 'film.json')}"
    )


def quotes(report: dict[str, Any]) -> str:
    """Pairs of quotation marks: all and the surest on the evaluation sets, and the surest on held-out ends."""
    found, ends = report["evaluation"], report["held-out ends"]
    sets = [
        [name, str(row["asked"]["there"]), *_pairs(row["asked"]), *_pairs(row["unasked"])]
        for name, row in found["sets"].items()
    ]
    kinds = ("written", "right", "precision", "recall")
    curve = [
        [least, *_pairs(rows["all"]), *(f"{rows[half]['right']} of {rows[half]['written']}" for half in _HALVES)]
        for least, rows in ends["by_least"].items()
    ]
    return (
        table(["set", "pairs", *kinds, *(f"surest: {kind}" for kind in kinds)], sets)
        + note({**found, "model": f"en@{found['model']}"}, "quotes.json")
        + "\n"
        + table(["surest from", *kinds, *(f"right, {half}" for half in _HALVES)], curve)
        + note({**ends, "model": f"en@{ends['model']}"}, "quotes.json")
    )


_HALVES = ("first half", "second half")


def _pairs(row: dict[str, Any]) -> list[str]:
    return [*(str(row[kind]) for kind in ("written", "right")), *(f"{row[of]:.1f}" for of in ("precision", "recall"))]


def _found(found: dict[str, float]) -> str:
    if not round(found["listed"], 3):
        return "–"
    return f"{100 * found['listed']:.1f} / {100 * found['wrong']:.0f} / {100 * found['found']:.0f}"


#: Generated part -> result file -> function that renders it.
PARTS = {
    "compare": {"peers.json": compare},
    "speed": {"cpu.json": cpu, "peers.json": peers, "languages.json": languages},
    "repair": {"stretches.json": repair},
    "half-marked": {"half_marked.json": half_marked, "half_marked_en.json": half_marked},
    "review": {"review.json": review},
    "own": {"own.json": own},
    "captions": {"captions.json": captions},
    "layout": {"layout.json": layout},
    "stream": {"stream.json": stream},
    "streams": {"websockets_live.json": many_streams},
    "chunks": {"chunks.json": chunks},
    "diacritics": {"diacritics.json": diacritics},
    "ngrams": {"ngrams.json": ngrams},
    "pauses": {"drawn_pauses.json": drawn_pauses},
    "penalty": {"penalty.json": penalty},
    "mends": {"mends.json": mends},
    "quotes": {"quotes.json": quotes},
    "film": {"film.json": film},
    "other-languages": {"other_languages.json": other_languages},
}
#: Generated part -> the page that has it.
PLACES = {
    "compare": "README.md",
    "speed": "docs/benchmarks.md",
    "repair": "docs/check.md",
    "half-marked": "docs/check.md",
    "review": "docs/review.md",
    "own": "docs/train.md",
    "captions": "docs/benchmarks.md",
    "layout": "docs/captions.md",
    "stream": "docs/stream.md",
    "streams": "docs/stream.md",
    "chunks": "docs/systems.md",
    "diacritics": "docs/systems.md",
    "ngrams": "docs/systems.md",
    "pauses": "docs/systems.md",
    "penalty": "docs/systems.md",
    "mends": "docs/benchmarks.md",
    "quotes": "docs/benchmarks.md",
    "film": "docs/benchmarks.md",
    "other-languages": "docs/models.md",
}


def page(part: str, results: Path = RESULTS) -> str:
    """The text of a part, from those of its result files that exist, with links relative to its page."""
    found = [
        make(json.loads((results / name).read_text("utf-8")))
        for name, make in PARTS[part].items()
        if (results / name).exists()
    ]
    text = "\n".join(found)
    return text if "/" in PLACES[part] else text.replace("](../", "](")


def main() -> None:
    for part, name in PLACES.items():
        place = ROOT / name
        begin, end = f"<!-- begin:{part} -->\n", f"<!-- end:{part} -->"
        head, _, rest = place.read_text("utf-8").partition(begin)
        place.write_text(head + begin + page(part) + end + rest.partition(end)[2], "utf-8")


if __name__ == "__main__":
    main()
