"""German."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "dr prof dipl abg"
_DOTTED = "d.h o.ä o.g s.o s.u u.a u.ä u.v.m v.a"

# German capitalises nouns; the model learns which words are nouns.
LANGUAGE = Language(
    "de",
    "German",
    quotes=("„", "“"),
    never_upper=words(_DOTTED, "bzw jh usf usw"),
    forms=written_forms("i.d.R. m.E. u.U. z.B. z.T. v.Chr n.Chr e.V. z.Zt"),
    abbreviations=words(
        _TITLES,
        _DOTTED,
        "abs aufl bd bspw bzw ca etc evtl ggf inkl jh kap min mio mrd nr od orig sek std str tel usf usw vgl zzgl",
        "z.b i.d.r z.t u.u m.e v.chr n.chr chr e.v z.zt",
    ),
    titles=words(_TITLES),
    ordinals=True,
    capital_nouns=True,
    linking=words("am an auf bei der die im in ob und vom von zu zum zur"),
    diacritics="äöüß",
    begin_lines=words(
        "und oder aber denn sondern dass weil wenn als ob obwohl während bevor nachdem damit sodass sobald solange",
        "bis da wie wo wer was warum wann der die das welcher welche welches in im an am auf aus bei mit nach von",
        "vom zu zum zur über unter vor hinter neben zwischen durch für gegen ohne um seit trotz wegen",
    ),
    never_last=words(
        "ein eine einen einem einer eines dem den des dieser diese dieses diesen diesem jeder jede jedes mein",
        "meine meinen dein deine sein seine seinen ihr ihre ihren unser unsere euer eure kein keine keinen nicht",
        "nie sehr ganz ich du er sie es wir",
    ),
    never_first=words("prozent uhr euro jahre"),
)
