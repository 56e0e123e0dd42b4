"""The tables of the studies, written into the docs by tests/benchmarks/tables.py."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from cappunc_cli.features.bench.hardware import in_short
from tests.benchmarks.markdown import hashes, model_of, note, source, table


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
        + f"\nModels {hashes(report)}; {source(report, 'drawn_pauses.json')}"
    )


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


_HALVES = ("first half", "second half")


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


def _pairs(row: dict[str, Any]) -> list[str]:
    return [*(str(row[kind]) for kind in ("written", "right")), *(f"{row[of]:.1f}" for of in ("precision", "recall"))]


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
    texts, model = ", ".join(report["texts"]), report["model"].partition("@")[0]
    changed = ", ".join(f"{text['nothing']['auto']['changed']:.1f}" for text in report["texts"].values())
    return (
        f"`{model}`, mean F1 of `, . ?` and of capitals over {report['words']:,} words each of {texts}, "
        "from which marks were taken:\n\n"
        + table(["taken out", *modes, *(f"capitals: {mode}" for mode in modes)], rows)
        + f"\nOf 1,000 words of each whole text, auto changes {changed}.\n"
        + note(report, f"half_marked{'' if model == 'en-fast' else '_' + report['language']}.json")
    )


def forms(report: dict[str, Any]) -> str:
    """F1 of the words within sentences that are not in lower case, by how they are written elsewhere and without."""
    rows = [
        [name, str(row["within sentences"]), f"{row['before']:.1f}", f"{row['after']:.1f}"]
        for name, row in report["rows"].items()
    ]
    return (
        f"Ends of training corpora, {report['words']:,} words each; F1 of the words that are not in lower case "
        "and begin no sentence, in per cent:\n\n"
        + table(["text", "such words", "the network alone", "with the forms of words"], rows)
        + f"\nModels {report['model']}; {source(report, 'forms.json')}"
    )


def agreement(report: dict[str, Any]) -> str:
    """The lines of captions of a restored text that change if it is restored again."""
    total, texts = report["total"], report["texts"]
    rows = [
        [title, f"{sum(texts[name]['lines'] for name in own):,}"]
        + [str(sum(texts[name][existing] for name in own)) for existing in ("auto", "replace")]
        for title, own in (
            ("drawn times", [name for name in texts if name.endswith("drawn times")]),
            ("recognisers' files", [name for name in texts if not name.endswith("drawn times")]),
        )
    ]
    return (
        f"{total['words']:,} words of {len(texts)} texts were restored, cut into {total['lines']:,} lines of SubRip "
        "captions, and restored again. Lines that change:\n\n"
        + table(["words with", "lines", "as they are (auto)", "without their marks (replace)"], rows)
        + note(report, "agreement.json")
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
        + f"\nModels {hashes(report)}; {source(report, 'diacritics.json')}"
    )


def _found(found: dict[str, float]) -> str:
    if not round(found["listed"], 3):
        return "–"
    return f"{100 * found['listed']:.1f} / {100 * found['wrong']:.0f} / {100 * found['found']:.0f}"


def marks_from(report: dict[str, Any]) -> str:
    """What `--marks-from` gives by the share of words that differ, and on the words of a recogniser."""
    shares = list(next(iter(report["texts"].values())))
    columns = ("marks", "capitals", "carried")

    def mean(share: str, key: str) -> str:
        found = [text[share][key] for text in report["texts"].values() if key in text[share]]
        return f"{fmean(found):.1f}" if found else ""

    rows = [[share, *(mean(share, key) for key in columns)] for share in shares]
    calls = list(report["calls"].values())
    heard = [[name, *(f"{fmean(call[name][key] for call in calls):.1f}" for key in columns[:2])] for name in calls[0]]
    return (
        f"{len(report['texts'])} texts in five languages, {report['words']:,} words each, whose other text has a share "
        "of its words changed, dropped or added: mean F1 in per cent of `, . ?` and of capitals, and the share of the "
        "marks carried over whose words both texts have. `plain` is `fix` without the option:\n\n"
        + table(["words that differ", "marks , . ?", "capitals", "carried"], rows)
        + "\nWords of a recogniser without marks (Earnings-21), with the marks of an edited text and of two other "
        "recognisers, against the edited text:\n\n"
        + table(["marks from", "marks , . ?", "capitals"], heard)
        + f"\nThe most that a text has in common with an unrelated one is {report['wrong']['highest']} % of its words. "
        + source(report, "marks_from.json")
    )


def marks_from_speed(report: dict[str, Any]) -> str:
    """How long it takes to align two texts, and how much memory."""
    rows = [
        [
            name,
            f"{one['words']:,}",
            f"{one['other_words']:,}",
            f"{one['cpu_seconds']:.1f} s",
            f"{one['memory_mb']:,.0f} MB",
        ]
        for name, one in report["pairs"].items()
    ]
    return (
        "The time of one core, beside that of the model, and the memory, to align two texts:\n\n"
        + table(["", "words", "of the other text", "time", "memory"], rows)
        + f"\n{in_short(report['hardware'])}; "
        + source(report, "marks_from_speed.json")
    )
