"""The options of `cappunc train`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cappunc_cli.cli.options import languages_known, models_known, path_of
from cappunc_cli.languages import CODE, UNSPACED, code_of
from cappunc_cli.options import FILES, MODEL, SPEED, Option


def language_code(name: str) -> str:
    """A language code, in `LANGUAGES` or not; raises ValueError."""
    code = code_of(name)
    if not CODE.fullmatch(code):
        raise ValueError(f"{name!r} is not a language code (en, fr, …)")
    if code in UNSPACED:
        raise ValueError(f"{code} is written without spaces between words; cappunc needs them")
    return code


@dataclass(frozen=True, slots=True)
class TrainOptions:
    """Train a model on punctuated text, or adapt one to a domain.

    Needs the extra "train" (in a clone: pip install '.[train]'). Ctrl-C keeps
    the progress; run the same command again to resume. The end of the text is
    held out for early stopping and for the scores in eval.json.

    \b
    cappunc train --lang fr novels/*.txt -o my-fr               from scratch
    cappunc train --lang en --from en minutes/*.vtt -o board    adapt a model
    cappunc fix --model my-fr film.srt                          use the model
    """

    lang: Annotated[
        str, Option("Language of the text.", FILES, metavar="CODE", check=language_code, complete=languages_known)
    ]
    output: Annotated[str, Option("Directory for the model.", FILES, short="o", metavar="DIR", check=path_of)]
    texts: Annotated[
        tuple[str, ...],
        Option(
            "Punctuated text: .txt, .txt.xz, or any transcript.", FILES, metavar="TEXT", check=path_of, argument=True
        ),
    ] = ()
    timed: Annotated[
        tuple[str, ...],
        Option("Transcript with times, to learn pauses from; repeatable.", FILES, metavar="FILE", check=path_of),
    ] = ()
    licence: Annotated[str, Option("Licence of the text, for the model's config.", FILES, metavar="NAME")] = ""
    start: Annotated[
        str | None,
        Option(
            "Adapt this model instead of training a new one.",
            MODEL,
            name="from",
            metavar="MODEL",
            complete=models_known,
        ),
    ] = None
    pieces: Annotated[
        int | None, Option("Length of the run, in pieces of words (default: by the text).", SPEED, least=1)
    ] = None
    device: Annotated[
        str,
        Option(
            "Where to train: auto, cpu or cuda[:N].", SPEED, metavar="NAME", check="cappunc_cli.cli.usage:known_device"
        ),
    ] = "auto"
