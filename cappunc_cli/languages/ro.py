"""Romanian."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "dl dna dra d-l d-na d-ra d-lui dr prof ing av arh acad col sf"
_DOTTED = "ș.a ș.a.m.d"

LANGUAGE = Language(
    "ro",
    "Romanian",
    quotes=("„", "”"),
    abbreviations=words(
        _TITLES,
        _DOTTED,
        "nr art alin lit pag pg str bd bl ap sc sec jud com nn vol ed op cit cca aprox tel etc dv dvs d-v d-vs",
        "mld mlrd univ vs",
        "î.hr d.hr hr",
    ),
    forms=written_forms("î.Hr d.Hr"),
    centuries=words("secolul secolului secolele sec"),
    never_upper=words(_DOTTED, "sec"),
    titles=words(_TITLES),
    clitics=words(
        "o a i l m n s t v mi ți și ne vă vi le li lui îl îi îmi îți își am ai are au aș ar ați aveam avea",
        "un una unul ul ului uri urile urilor ul le lor mă te se ce că de la pe e este ești era",
    ),
    # Endings: `SUV-uri`.
    lower_after_acronyms=True,
    # Turkish letters with cedillas were used before fonts had letters with a comma below.
    letters={"ş": "ș", "ţ": "ț", "Ş": "Ș", "Ţ": "Ț", "‐": "-", "‑": "-"},
    diacritics="ăâîșț",
    begin_lines=words(
        "și sau ori dar iar însă ci nici că dacă când unde cum deși fiindcă deoarece pentru care ce cine",
        "căci decât ca de la în din cu pe prin spre fără sub către despre între după până peste dintre",
        "lângă contra asupra",
    ),
    never_last=words(
        "un o niște al a ai ale cel cea cei cele acest această acești aceste acel acea acei acele fiecare",
        "nu să mă te se îmi îți își îl îi ne vă le li i am are au aș ar ați vom veți vor voi va fi este e",
        "sunt era erau eram eu tu el ea noi ei ele foarte mai prea tot toată toți toate",
    ),
    never_first=words("lei ani"),
)
