"""French."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

# `M.` is monsieur in all but 2 of 1,984 in the training texts, and these two are metres.
_TITLES = "m mme mmes mlle mlles mgr dr drs"

LANGUAGE = Language(
    "fr",
    "French",
    quotes=("«", "»"),
    spaced=";:!?",
    never_upper=words("p.ex"),
    abbreviations=words(
        _TITLES,
        "cf etc bd chap env fig hab nos tél vol janv févr juil oct nov déc",
        "av ap apr p.ex j.-c av.j.-c ap.j.-c apr.j.-c",
    ),
    titles=words(_TITLES),
    forms=written_forms("J.-C av.J.-C ap.J.-C apr.J.-C Ier"),
    ordinal_endings=words("e ème"),
    elisions=words("c d j l m n qu s t jusqu lorsqu puisqu quoiqu"),
    linking=words("à au aux d de des du en et l la le les lès sous sur"),
    diacritics="àâçéèêëîïôùûüÿœæ",
    begin_lines=words(
        "et ou mais donc or ni car que qui dont où lorsque puisque quoique si quand comme parce afin à au aux de",
        "du des d'un d'une en dans par pour sans sous sur avec chez contre depuis dès entre envers hors jusque",
        "jusqu'à malgré parmi pendant selon vers avant après derrière devant",
    ),
    never_last=words(
        "le la les un une ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs",
        "quel quelle quels quelles chaque plusieurs quelques aucun aucune tout toute tous toutes ne je tu il elle y",
        "on nous vous ils elles me te se ai as a avons avez ont suis es est sommes êtes sont étais était étaient",
        "serai sera seront très moins trop aussi",
    ),
    never_first=words("pas plus jamais rien ans euros francs"),
)
