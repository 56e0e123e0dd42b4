"""Catalan."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "sr sra srs sres srta dr dra drs prof mn"

LANGUAGE = Language(
    "ca",
    "Catalan",
    quotes=("«", "»"),
    eras=written_forms("a.C. d.C."),
    centuries=words("segle segles s ss"),
    never_upper=words("p.ex"),
    abbreviations=words(_TITLES, "av etc núm pàg pàgs tel vol aprox dept p.ex a.c d.c"),
    titles=words(_TITLES),
    elisions=words("d l m n s t"),
    linking=words("a al als d d'en de del dels el els en i l la les"),
    diacritics="àèéíïòóúüç",
    begin_lines=words(
        "i o ni però sinó que qui on quan com perquè doncs si mentre encara malgrat a al als de del dels d'un d'una",
        "en amb per pel pels sense sobre entre fins des cap contra durant segons davant darrere",
    ),
    never_last=words(
        "el la els les un una uns unes aquest aquesta aquests aquestes aquell aquella aquells aquelles meu meva",
        "seu seva seus seves nostre nostra cada tot tota tots totes no mai em et es ens us he has ha hem heu",
        "han és són era eren està estan va van molt més tan jo tu ell ella nosaltres vosaltres ells elles vostè",
    ),
    never_first=words("anys euros pessetes"),
)
