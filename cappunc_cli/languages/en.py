"""English."""

from __future__ import annotations

from cappunc_cli.languages.language import ApostropheWords, Language, NumberWords, words

_TITLES = "mr mrs ms dr prof gen maj col lt cmdr adm sgt cpl pvt capt gov sen rep rev hon det insp supt st messrs mt ft"

#: Left out are those that are also a word or name without the apostrophe: its, were, well, shell, hell, ill, id, wed,
#: shed, hed (a headline), lets, sos; and `whos`, which may stand for whose.
_CONTRACTIONS = """
aren't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't needn't oughtn't shan't shouldn't
wasn't weren't wouldn't ain't I'm I've you're you've you'll you'd they're they've they'll they'd we've it'll it'd
he's she's that's that'll that'd there's here's what's where's how's
could've might've must've should've would've
somebody's someone's everybody's everyone's anybody's anyone's nobody's o'clock ma'am y'all c'mon
"""

LANGUAGE = Language(
    "en",
    "English",
    quoted_stops=True,
    always_capital=words("i i'm i've i'd i'll i'ma"),
    always_lower=words("a.m. p.m. 'n' w/o w/e b/c"),
    never_upper=words("e.g i.e vs inc ltd nos vol etc approx dept blvd jan feb aug sept oct nov"),
    initialisms=words("us uk un eu dc la ny tv pc cd dj hr pr vp ok"),
    abbreviations=words(
        _TITLES,
        "e.g i.e ph.d",
        "vs jr sr inc ltd co corp nos vol fig approx dept est etc lb lbs oz ave blvd jan feb aug sept oct nov dec",
    ),
    titles=words(_TITLES),
    # "was" is also a German word.
    frequent=words(
        "the and of to you that is it was for this with are have they we his him she your our their there then them",
        "what when which who would could should been from about into not but because how were its don't it's that's",
    ),
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
    numbers=NumberWords(
        units=words("one two three four five six seven eight nine"),
        teens=words("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"),
        tens=words("twenty thirty forty fifty sixty seventy eighty ninety"),
        scales=words("hundred thousand million billion trillion"),
        large=words("million billion trillion"),
        zeros=words("zero oh nought"),
        # Without "second": "twenty second" may be the 22nd or 20 seconds.
        ordinals=words("first third fourth fifth sixth seventh eighth ninth"),
        others=words(
            "second tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth",
            "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth hundredth thousandth",
            "millionth billionth half halves quarter quarters thirds fourths fifths sixths sevenths eighths ninths",
            "tenths twelfths hundredths thousandths tens twenties thirties forties fifties sixties seventies eighties",
            "nineties hundreds thousands millions billions trillions ones twos threes fours fives sixes sevens eights",
            "nines dozen dozens",
        ),
        joining="and",
        point="point",
        links=words("to or and past till in by out of from minus plus times"),
        vague=words("something somethings odd niners"),
        clock=words("at by until till before after around since it's"),
        day_times=words("a.m. p.m. a.m p.m am pm")
        | {"in the morning", "in the afternoon", "in the evening", "at night"},
        year=words(
            "in since until till by from year january february march april june july august september october november",
            "december",
        ),
        may_follow=words(
            "and or but so because when then if while until till to from in on at for with by before after as i you he",
            "she it we they this that these those the today tomorrow tonight yesterday every each sharp",
            "was is were are will would can could",
        ),
    ),
    apostrophes=ApostropheWords(
        sure={word.replace("'", "").lower(): word for word in _CONTRACTIONS.split()},
        # Also nouns: his wont, thieves' cant.
        after_subject={"cant": "can't", "wont": "won't"},
        subjects=words("i you he she it we they that this there who"),
        objects=words("to the a an my your his her its our their this that these those it them him us me you"),
        determiners=words("the a an my your his her its our their this these those some any no"),
    ),
)
