"""Polish."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "dr prof mgr inż hab ks płk mjr kpt św abp bp"
_DOTTED = "m.in n.e o.o p.n.e"

LANGUAGE = Language(
    "pl",
    "Polish",
    quotes=("„", "”"),
    always_lower=words("n.e. p.n.e."),
    eras=written_forms("w r"),
    abbreviations=words(
        _TITLES,
        _DOTTED,
        "art br cz etc godz in itd itp nr np pkt poz proc r red rys s sp sz tab tel tj",
        "tys tzn tzw ul ust ur wg zł zob",
    ),
    never_upper=words(_DOTTED, "wg"),
    titles=words(_TITLES),
    # As in 309 of 313 in the training texts.
    lower_titles=True,
    ordinals=True,
    diacritics="ąćęłńóśźż",
    begin_lines=words(
        "i oraz a lub albo ale lecz jednak więc że żeby aby ponieważ bo gdyż jeśli jeżeli gdy kiedy gdzie jak który",
        "która które którzy których którego której co kto czy choć chociaż zanim aż do od z ze w we na po o u przy",
        "przez dla bez pod nad przed za między ku wobec według podczas",
    ),
    never_last=words(
        "nie ten ta to ci te tego tej tych mój moja moje twój twoja swój swoja swoje nasz nasza wasz każdy każda",
        "bardzo tak zbyt jest są był była było byli będzie będą ja ty on ona my wy oni pan pani",
    ),
    never_first=words("się by lat zł procent"),
)
