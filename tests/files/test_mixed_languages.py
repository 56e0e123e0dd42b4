"""Several languages in one file: each line by its own model, and lines in languages without one left as they are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import pytest
from typer.testing import CliRunner

import cappunc_cli as cappunc
from cappunc_cli import formats
from cappunc_cli.cli.main import app
from cappunc_cli.files.fixer import FixRequest
from cappunc_cli.files.jobs import Job
from cappunc_cli.files.language_detection import in_doubt, stretches
from cappunc_cli.files.record import Result
from cappunc_cli.files.run import Worker

ENGLISH = [
    "good evening and welcome to the show",
    "we have a lot to talk about tonight",
    "my guest is a writer from london",
    "she has written more than ten books",
    "and she is here to talk about the last one",
    "it is about a house by the river",
]
SPANISH = [
    "buenas noches y bienvenidos al programa",
    "tenemos mucho de que hablar esta noche",
    "mi invitada es una escritora de madrid",
    "ha escrito más de diez libros en su vida",
    "y está aquí para hablar del último",
    "trata de una casa que está cerca del río",
]
CHINESE = [
    "晚上好欢迎收看",
    "今晚我们有很多话题",
    "我的嘉宾是作家",
    "她写了十多本书",
    "她来谈谈最后一本",
    "这是关于河边的房子",
]
HEBREW = [
    "ערב טוב וברוכים הבאים",
    "יש לנו הרבה על מה לדבר הערב",
    "האורחת שלי היא סופרת מלונדון",
    "היא כתבה יותר מעשרה ספרים",
    "והיא באה לדבר על האחרון",
    "הוא על בית ליד הנהר",
]


SPANISH_CATALAN = {
    "hoy no está en casa": "avui no és a casa",
    "la presidenta tiene la palabra": "la presidenta té la paraula",
    "vamos a votar ahora": "ara votarem",
    "no hay más preguntas": "no hi ha més preguntes",
    "eso es todo": "això és tot",
    "pues claro que no": "és clar que no",
}
SPANISH_PORTUGUESE = {
    "hoy no está en casa": "hoje não está em casa",
    "la presidenta tiene la palabra": "a presidenta tem a palavra",
    "vamos a votar ahora": "vamos votar agora",
    "no hay más preguntas": "não há mais perguntas",
    "eso es todo": "isso é tudo",
    "pues claro que no": "claro que não",
}


def srt(cues: Sequence[str]) -> str:
    return "\n".join(f"{i}\n00:00:{3 * i:02},000 --> 00:00:{3 * i + 3:02},000\n{cue}\n" for i, cue in enumerate(cues))


def fixed(folder: Path, text: str, lang: str = "auto", name: str = "talk.srt") -> tuple[str, Result]:
    (folder / name).write_text(text, encoding="utf-8")
    request = FixRequest(lang, fast=True, device="cpu")
    (result,) = Worker(request, "new").run([Job(str(folder / name))])
    return (result.data or b"").decode(), result


def lines_of(text: str, among: Sequence[str]) -> list[str]:
    """The lines of a result that are lines of `among` but for marks and case."""

    def bare(line: str) -> str:
        return "".join(c for c in line.lower() if c.isalpha())

    wanted = {bare(line) for line in among}
    return [line for line in text.splitlines() if bare(line) in wanted]


def test_each_language_by_its_own_model(tmp_path: Path) -> None:
    text, result = fixed(tmp_path, srt([*ENGLISH, *SPANISH, *ENGLISH]))
    english, spanish = lines_of(text, ENGLISH), lines_of(text, SPANISH)
    assert (len(english), len(spanish), result.note) == (12, 6, "")
    assert any("London" in line for line in english)
    assert any("Madrid" in line for line in spanish)
    assert english[0].startswith("Good evening")
    alone, _ = fixed(tmp_path, srt(SPANISH), "es", "alone.srt")
    assert spanish == lines_of(alone, SPANISH)


@pytest.mark.parametrize(("others", "code"), [(CHINESE, "zh"), (HEBREW, "he")])
@pytest.mark.parametrize("lang", ["auto", "en"])
def test_lines_in_other_scripts_stay_in_bilingual_cues(
    tmp_path: Path, others: Sequence[str], code: str, lang: str
) -> None:
    pairs = [f"{one}\n{other}" for one, other in zip(others, ENGLISH, strict=True)]
    text, result = fixed(tmp_path, srt(pairs), lang)
    assert [line for line in text.splitlines() if line in others] == others
    assert lines_of(text, ENGLISH)[0].startswith("Good evening")
    assert "left as they are" in result.note
    assert code in result.note


@pytest.mark.parametrize(("lines", "code"), [(SPANISH_CATALAN, "ca"), (SPANISH_PORTUGUESE, "pt")])
def test_close_languages_in_bilingual_cues(lines: dict[str, str], code: str) -> None:
    source = srt([f"{one}\n{other}" for one, other in lines.items()])
    document = formats.read(source, "talk.srt")
    parts = stretches(document, ["es", code])
    found = {language: " ".join(document.words[i].text for i in numbers) for language, numbers in parts}
    assert found == {"es": " ".join(lines), code: " ".join(lines.values())}


def shown_words(subtitles: str) -> list[str]:
    return [word.text for word in formats.read(subtitles, "talk.srt").words]


def made(command: str, path: Path) -> tuple[str, str]:
    """What a command, or `fix` in Python, makes of a file as SRT, and what it says."""
    if command == "python":
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            return cappunc.fix(path, fast=True).text, " ".join(str(one.message) for one in said)
    run = CliRunner().invoke(app, [command, str(path), "--to", "srt", "--fast", "-o", "-"])
    assert run.exit_code == 0, run.output
    return run.stdout, run.stderr


@pytest.mark.parametrize("command", ["captions", "convert", "python"])
def test_whatever_restores_a_file_does_so_by_stretches(tmp_path: Path, command: str) -> None:
    english, spanish = (
        shown_words(fixed(tmp_path, srt(lines), code)[0]) for lines, code in ((ENGLISH, "en"), (SPANISH, "es"))
    )
    path = tmp_path / "talk.srt"
    path.write_text(srt([*ENGLISH, *SPANISH, *ENGLISH]), "utf-8")
    text, said = made(command, path)
    assert shown_words(text) == [*english, *spanish, *english]
    assert "without a model" not in said


def test_what_is_checked_and_reviewed_is_judged_by_stretches(tmp_path: Path) -> None:
    """A file in English and Spanish that is restored lacks nothing; Spanish that has lost its marks is found."""
    restored, _ = fixed(tmp_path, srt([*ENGLISH * 3, *SPANISH * 3, *ENGLISH * 3]))
    assert cappunc.check(restored) == []
    assert cappunc.review(restored)["stretches"] == []
    damaged = restored
    for line, plain in zip(lines_of(restored, SPANISH), SPANISH * 3, strict=True):
        damaged = damaged.replace(line, plain)
    words = [word.text for word in formats.read(damaged, "talk.srt").words]
    [stretch] = cappunc.check(damaged)
    assert words[stretch.first_word - 1 : stretch.last_word] == " ".join(SPANISH * 3).split()
    assert stretch.missing == ("marks", "case")


@pytest.mark.parametrize("command", [["check"], ["review"], ["review", "--html", "-"]])
def test_what_is_checked_says_which_words_have_no_model(tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "talk.srt"
    path.write_text(srt([f"{one}\n{other}" for one, other in zip(HEBREW, ENGLISH, strict=True)]), "utf-8")
    run = CliRunner().invoke(app, [*command, str(path), "--fast"])
    assert f"{len(' '.join(HEBREW).split())} words in languages without a model" in run.stderr, run.output


@pytest.mark.parametrize("command", ["captions", "convert", "python"])
def test_lines_without_a_model_stay_whatever_restores_the_file(tmp_path: Path, command: str) -> None:
    path = tmp_path / "talk.srt"
    path.write_text(srt([f"{one}\n{other}" for one, other in zip(HEBREW, ENGLISH, strict=True)]), "utf-8")
    text, said = made(command, path)
    hebrew = " ".join(HEBREW).split()
    assert [word for word in shown_words(text) if not word.isascii()] == hebrew
    assert "Good" in shown_words(text)
    assert f"{len(hebrew)} words in languages without a model" in said


def test_a_declared_language_goes_with_its_paragraph_into_another_format(tmp_path: Path) -> None:
    icelandic = "við sjáumst á morgun"
    path = tmp_path / "talk.ttml"
    path.write_text(ttml(*(f">{one}" for one in ENGLISH), f' xml:lang="is">{icelandic}'), "utf-8")
    text, said = made("convert", path)
    assert icelandic in text.splitlines()
    assert "4 words in languages without a model (is) left as they are" in said


def test_a_file_without_a_line_in_a_known_language_is_refused(tmp_path: Path) -> None:
    for lang in ("auto", "en"):
        _, result = fixed(tmp_path, srt([*HEBREW, "OK"]), lang)
        assert result.status == "failed"
        assert "no model" in result.reason


def test_languages_that_are_named_limit_the_choice(tmp_path: Path) -> None:
    _, result = fixed(tmp_path, srt(SPANISH), "en,es")
    assert result.language == "es"
    # Catalan looks most like Spanish of these two.
    _, result = fixed(tmp_path, srt(["bona nit i benvinguts al programa d'avui amb la meva convidada"]), "en,es")
    assert result.language == "es"


TTML = '<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="fr"><body><div><p begin="0s" end="2s">{}</p></div></body></tt>'
SAMI = """<SAMI><HEAD><STYLE TYPE="text/css"><!-- .FRCC {{ Name: French; lang: fr-FR; }} --></STYLE></HEAD><BODY>
<SYNC Start=0><P Class=FRCC>{}</BODY></SAMI>"""
WEBVTT = "WEBVTT\nKind: captions\nLanguage: fr\n\n00:00.000 --> 00:02.000\n{}\n"
WHISPER = '{{"text": "{0}", "segments": [{{"id": 0, "start": 0, "end": 2, "text": "{0}"}}], "language": "fr"}}'


@pytest.mark.parametrize(("name", "text"), [("a.ttml", TTML), ("a.smi", SAMI), ("a.vtt", WEBVTT), ("a.json", WHISPER)])
def test_a_short_text_has_the_language_that_the_file_declares(tmp_path: Path, name: str, text: str) -> None:
    _, result = fixed(tmp_path, text.format("on part demain"), name=name)
    assert (result.error, result.language) == (None, "fr")


def ttml(*paragraphs: str) -> str:
    """A TTML file in English with a <p> for each of the paragraphs, which begin with their attributes."""
    cues = "".join(f'<p begin="{3 * i}s" end="{3 * i + 3}s"{own}</p>\n' for i, own in enumerate(paragraphs))
    return f'<tt xmlns="http://www.w3.org/ns/ttml" xml:lang="en"><body><div>\n{cues}</div></body></tt>'


@pytest.mark.parametrize(
    "spanish",
    [' xml:lang="es">{}', ' xml:lang="es-ES">{}', '><span xml:lang="es">{}</span>'],
    ids=["p", "region", "span"],
)
def test_an_element_has_the_language_that_it_declares(tmp_path: Path, spanish: str) -> None:
    """A line that could be in several languages is not left to the detector, and those around it stay English."""
    line = "no no qué va"
    cues = [*(f">{one}" for one in ENGLISH[:3]), spanish.format(line), *(f">{one}" for one in ENGLISH[3:])]
    document = formats.read(ttml(*cues), "talk.ttml")
    found = stretches(document, FixRequest(fast=True).codes)
    [words] = [[document.words[i].text for i in numbers] for code, numbers in found if code == "es"]
    assert words == line.split()
    assert {code for code, _ in found} == {"en", "es"}
    text, result = fixed(tmp_path, ttml(*cues), name="talk.ttml")
    assert (result.error, result.language) == (None, "en")
    assert "London" in text


def test_the_language_that_the_user_names_outweighs_that_of_elements() -> None:
    document = formats.read(ttml(*(f' xml:lang="es">{one}' for one in ENGLISH)), "talk.ttml")
    assert stretches(document, ["en"], only=True) == []


@pytest.mark.slow
def test_the_time_for_finding_languages_grows_with_the_lines() -> None:
    def seconds(times: int) -> float:
        document = formats.read("\n".join(ENGLISH * times) + "\n", format="txt")
        begin = process_time()
        assert stretches(document, ["en", "es"]) == []
        return process_time() - begin

    # Quadratic growth is a factor of 256 each time; what a busy machine adds is not there three times.
    for attempt in range(3):
        small, large = seconds(700), seconds(16 * 700)
        if large < 40 * small:
            break
        assert attempt < 2, (small, large)


RUSSIAN = [
    "добрый вечер и добро пожаловать",
    "сегодня нам есть о чём поговорить",
    "моя гостья писательница из лондона",
    "она написала более десяти книг",
    "и она пришла поговорить о последней",
    "это книга о доме у реки",
]
UKRAINIAN = [
    "добрий вечір і ласкаво просимо",
    "сьогодні нам є про що поговорити",
    "моя гостя письменниця з лондона",
    "вона написала більше десяти книжок",
    "і вона прийшла поговорити про останню",
    "це книжка про будинок біля річки",
]


def parted(lines: Sequence[str], codes: Sequence[str], only: bool = False) -> dict[str, str]:
    document = formats.read(srt(lines), "talk.srt")
    parts = stretches(document, codes, only)
    return {code: " ".join(document.words[i].text for i in numbers) for code, numbers in parts}


@pytest.mark.parametrize("strange", ["это буква ア из японского", "12 34", "iphone", "ア"])
def test_a_letter_of_another_script_does_not_decide(strange: str) -> None:
    """A Russian text with one kana in it, and `--lang ru` given, was refused as Japanese."""
    lines = [*RUSSIAN * 3, strange, *RUSSIAN * 3]
    for codes, only in ((["ru"], True), (["en", "ru", "uk"], False)):
        found = parted(lines, codes, only)
        assert not found or len(found["ru"].split()) >= 6 * len(" ".join(RUSSIAN).split())


def test_bilingual_cues_in_one_script_that_is_not_latin() -> None:
    found = parted([f"{one}\n{other}" for one, other in zip(RUSSIAN, UKRAINIAN, strict=True)], ["en", "ru", "uk"])
    assert found == {"ru": " ".join(RUSSIAN), "uk": " ".join(UKRAINIAN)}


def test_english_lines_in_a_text_in_another_script() -> None:
    pairs = [f"{one}\n{other}" for one, other in zip(RUSSIAN, ENGLISH, strict=True)]
    assert parted(pairs, ["en", "ru", "uk"]) == {"ru": " ".join(RUSSIAN), "en": " ".join(ENGLISH)}


@pytest.mark.parametrize(
    ("text", "code", "other"),
    [
        ("telefona koje ljudi mogu pozvati za podršku", "hr", "Serbian"),
        ("gdje je tvoj prijatelj i tko je ovaj čovjek u bijelom", "hr", ""),
        ("so that is what we have", "en", ""),
    ],
)
def test_a_language_that_cannot_be_told_from_another_is_said(text: str, code: str, other: str) -> None:
    note = in_doubt(text, code)
    assert (other in note) if other else note == ""
