"""English."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words

_TITLES = "mr mrs ms dr prof gen col lt sgt capt gov sen rep rev hon st messrs mt ft"

LANGUAGE = Language(
    "en",
    "English",
    quoted_stops=True,
    always_capital=words("i i'm i've i'd i'll i'ma"),
    always_lower=words("a.m. p.m. e.g. i.e. 'n'"),
    abbreviations=words(
        _TITLES,
        "ph.d",
        "vs jr sr inc ltd co corp no nos vol fig approx dept est etc ave blvd jan feb aug sept oct nov dec",
    ),
    titles=words(_TITLES),
    # "was" is German, too.
    frequent=words("the and of to you that is it was for this with are have they we"),
    linking=words("a al am and at by de del du el in la le of on sur the to upon von with"),
    begin_lines=words(
        "and or but nor so because although though unless until while since if when where whether than that",
        "which who whom whose what why how as of in on at by for with from to into onto about over under",
        "between through during without within against among across after before behind below beyond near",
        "toward towards upon via per like except",
    ),
    never_last=words(
        "a an the this these those my your his her its our their some any no every each both either neither",
        "not never am is are was were be been being have has had do does did will would shall should can",
        "could may might must i'm you're he's she's it's we're they're i've you've we've they've i'll",
        "you'll he'll she'll it'll we'll they'll i'd you'd he'd she'd we'd they'd that's there's isn't",
        "aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't wouldn't shouldn't can't",
        "couldn't mustn't i you he she it we they there very too quite",
    ),
    never_first=words("percent o'clock ago"),
)
