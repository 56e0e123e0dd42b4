"""Italian."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "sig sigg sig.ra sig.na dott dott.ssa dr prof prof.ssa avv ing arch mons on"

LANGUAGE = Language(
    "it",
    "Italian",
    quotes=("«", "»"),
    abbreviations=words(_TITLES, "art artt cfr ecc gent pag pagg sec tel vol c.a a.c d.c p.es u.s"),
    eras=written_forms("a.C. d.C."),
    centuries=words("secolo secoli sec secc"),
    never_upper=words("p.es"),
    titles=words(_TITLES),
    elisions=words("c d l m n s t v un gl all coll dall dell nell sull quest quell anch com dov"),
    linking=words("a al alla d da dal de degli dei del della delle di e in la le lo sul sulla"),
    diacritics="àèéìíòóùú",
    begin_lines=words(
        "e ed o oppure ma però anzi che chi cui dove quando come perché poiché se mentre sebbene affinché finché",
        "benché dunque quindi a al allo alla ai agli alle da dal dalla dai di del dello della dei degli delle in",
        "nel nella nei con per su sul sulla tra fra senza contro verso dopo prima durante secondo",
    ),
    never_last=words(
        "il lo la i gli le un uno una questo questa questi queste quel quella quei quelle mio mia miei tuo tua suo",
        "sua suoi sue nostro nostra vostro vostra ogni qualche tutto tutta tutti tutte non mi ti si ci vi ne ho hai",
        "ha abbiamo avete hanno sono sei è siamo siete era erano sarà molto più troppo così io tu lui lei noi voi",
    ),
    never_first=words("anni euro lire"),
)
