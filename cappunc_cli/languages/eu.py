"""Basque."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "jn and dr prof"

LANGUAGE = Language(
    "eu",
    "Basque",
    quotes=("«", "»"),
    abbreviations=words(_TITLES, "k.a k.o adib orr zk ik art tel etab"),
    forms=written_forms("K.a. K.o."),
    titles=words(_TITLES),
    ordinals=True,
    # Case endings after an initialism or a foreign name: `NATO-ren`.
    clitics=words(
        "a ak ek en ena enak i ko koa koak ra rako ren rena renak ri n tik z ekin rekin eko ekoa ekoak etako era erako",
        "an ari aren arekin arentzat ean entzat rentzat etan etara etatik etik ik rik raino tako rengatik",
    ),
    inflects_acronyms=True,
    begin_lines=words(
        "eta edo ala baina baizik ezen zeren izan nahiz bestela orduan hala beraz baldin non noiz",
        "nola zergatik",
    ),
    never_last=words("ez ezin ba bi hiru lau bost hain oso guztiz zein zer ni hi zu gu zuek"),
    never_first=words(
        "da dira naiz zara gara zarete zen ziren nintzen zinen ginen du dut duzu dugu duzue dute ditu ditut",
        "dituzu ditugu dituzte zuen nuen zenuen genuen zuten zituen nituen zituzten dio diot diogu diote",
        "die zion nion zioten zait zaio zaigu zaie zitzaion dago daude nago gaude zegoen zeuden behar nahi",
        "ahal bezala gabe arte kontra alde buruz ondoren aurretik ostean baino ere omen ote al den diren",
        "duen duten bat batzuk hau hori hura hauek horiek haiek",
    ),
)
