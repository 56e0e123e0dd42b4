"""Portuguese."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "sr sra srs sras srta dr dra drs prof profa exmo exma eng"

LANGUAGE = Language(
    "pt",
    "Portuguese",
    abbreviations=words(_TITLES, "art arts av etc fig núm pág págs séc tel vol vs cia ltda p.ex a.c d.c"),
    eras=written_forms("a.C. d.C."),
    centuries=words("século séculos séc s"),
    never_upper=words("p.ex"),
    titles=words(_TITLES),
    elisions=words("d"),
    linking=words("a as da das de do dos e em na nas no nos o os"),
    diacritics="áâãàçéêíóôõúü",
    begin_lines=words(
        "e ou mas nem porém contudo que quem qual quais cujo cuja onde quando como porque pois se enquanto embora",
        "caso conforme a ao aos à às de do da dos das em no na nos nas num numa por pelo pela pelos pelas para com",
        "sem sob sobre entre até desde contra durante perante após",
    ),
    never_last=words(
        "o os as um uma uns umas este esta estes estas esse essa esses essas aquele aquela aqueles aquelas meu",
        "minha meus minhas teu tua seu sua seus suas nosso nossa nossos nossas cada todo toda todos todas algum",
        "alguma nenhum nenhuma não nunca me te lhe é são era eram foi foram está estão estava tem têm tinha",
        "vou vai vamos vão muito mais tão eu tu ele ela nós eles elas você vocês",
    ),
    never_first=words("anos reais euros"),
)
