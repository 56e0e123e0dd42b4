"""What a language adds to reading and decoding; one table entry per language, no code elsewhere.

To add a language: an entry in LANGUAGES. A model may also be trained for a code that has none;
`language` then gives the plain conventions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from unicodedata import is_normalized, normalize

#: Languages whose words no spaces part: what has no word marks in a file can be given none back.
UNSPACED = frozenset(("bo", "dz", "ja", "km", "lo", "my", "th", "zh"))

_ROMAN = re.compile(r"[ivxlcdm]+")


@dataclass(frozen=True, slots=True)
class Language:
    """Conventions of one written language; all words in it are bare (lower case, NFC, `'`).

    `opening` are the marks that open what `?` and `!` close, in their order. `quotes` open and
    close a quotation; with `quoted_stops` they enclose the comma or period beside them, as
    English has it (question and exclamation marks go by what they ask). `always_capital` words
    are capital wherever they stand (`i'm`, Spanish `Sr.`), `always_lower` ones are lower-case
    (`e.g.`); `abbreviations` end in a period that ends no sentence when
    another word follows (`dr`, `vs`); `titles` among
    them are always followed by a name. With `ordinals` the period of a number (`XX. mendea`)
    ends none either. `clitics` stay lower-case beside the hyphen of a capital word
    (`Într-o`, not `Într-O`), `linking` words between two of them (`Mar-a-Lago`). `letters` are
    other codes of the language's letters. `diacritics` are those that text typed without them lacks.
    `latin` says that it is written in Latin letters.

    Where a line may break (Netflix Timed Text Style Guide): best before the conjunctions, prepositions and
    relative pronouns of `begin_lines`, which end none; `never_last` are the other words that are bound to the next
    one (articles, auxiliaries, negations, subject pronouns), `never_first` those bound to the one before. Closed
    classes alone; without them a line breaks by marks and length.
    """

    code: str
    name: str
    marks: str = ",.?!:;—…"
    opening: str = ""
    quotes: tuple[str, str] = ("“", "”")
    quoted_stops: bool = False
    always_capital: frozenset[str] = frozenset()
    always_lower: frozenset[str] = frozenset()
    abbreviations: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    ordinals: bool = False
    clitics: frozenset[str] = frozenset()
    linking: frozenset[str] = frozenset()
    letters: Mapping[str, str] = field(default_factory=dict)
    diacritics: str = ""
    latin: bool = True
    begin_lines: frozenset[str] = frozenset()
    never_last: frozenset[str] = frozenset()
    never_first: frozenset[str] = frozenset()

    def spelled(self, word: str) -> str:
        """A word as tables and models know it: NFC, one code per letter, the typewriter's apostrophe."""
        if word.isascii():
            return word
        if not is_normalized("NFC", word):
            word = normalize("NFC", word)
        for other, letter in self.letters.items():
            word = word.replace(other, letter)
        return word.replace("’", "'")

    def abbreviates(self, bare: str) -> bool:
        """Whether a period after this word, spelled as above, ends no sentence."""
        if bare in self.abbreviations:
            return True
        return self.ordinals and (bare.isdecimal() or _ROMAN.fullmatch(bare) is not None)


def _set(*words: str) -> frozenset[str]:
    return frozenset(" ".join(words).split())


_EN_TITLES = "mr mrs ms dr prof gen col lt sgt capt gov sen rep rev hon st messrs mt ft"
_ES_TITLES = "sr sra srta sres dr dra dres d dña prof profa lic ing arq gral cnel sgto fr mons"
_EU_TITLES = "jn and dr prof"
_RO_TITLES = "dl dna dra d-l d-na d-ra d-lui dr prof ing av arh acad col sf"
_VI_TITLES = "ts gs pgs ths bs ks ls gs.ts pgs.ts"

LANGUAGES: dict[str, Language] = {
    language.code: language
    for language in (
        Language(
            "en",
            "English",
            quoted_stops=True,
            always_capital=_set("i i'm i've i'd i'll i'ma"),
            always_lower=_set("a.m. p.m. e.g. i.e. 'n'"),
            abbreviations=_set(
                _EN_TITLES,
                "ph.d",
                "vs jr sr inc ltd co corp no nos vol fig approx dept est etc ave blvd jan feb aug sept oct nov dec",
            ),
            titles=_set(_EN_TITLES),
            linking=_set("a al am and at by de del du el in la le of on sur the to upon von with"),
            begin_lines=_set(
                "and or but nor so because although though unless until while since if when where whether than that",
                "which who whom whose what why how as of in on at by for with from to into onto about over under",
                "between through during without within against among across after before behind below beyond near",
                "toward towards upon via per like except",
            ),
            never_last=_set(
                "a an the this these those my your his her its our their some any no every each both either neither",
                "not never am is are was were be been being have has had do does did will would shall should can",
                "could may might must i'm you're he's she's it's we're they're i've you've we've they've i'll",
                "you'll he'll she'll it'll we'll they'll i'd you'd he'd she'd we'd they'd that's there's isn't",
                "aren't wasn't weren't haven't hasn't hadn't don't doesn't didn't won't wouldn't shouldn't can't",
                "couldn't mustn't i you he she it we they there very too quite",
            ),
            never_first=_set("percent o'clock ago"),
        ),
        Language(
            "es",
            "Spanish",
            opening="¿¡",
            quotes=("«", "»"),
            always_lower=_set("a.m. p.m."),
            always_capital=_set("sr sra srta sres dr dra dres dña ud uds vd vds"),
            abbreviations=_set(
                _ES_TITLES,
                "ud uds vd vds art arts av avda núm pág págs vol cap tel aprox dpto depto admón ej ee uu vs cía",
                "ee.uu ff.aa jj.oo cc.oo",
            ),
            titles=_set(_ES_TITLES),
            diacritics="áéíóúüñ",
            begin_lines=_set(
                "y e o u ni pero sino aunque porque pues si cuando donde mientras como que quien quienes cual",
                "cuales cuyo cuya cuyos cuyas de del a al en con por para sin sobre entre hasta desde hacia según",
                "contra durante mediante tras ante bajo",
            ),
            never_last=_set(
                "el la los las lo un una unos unas este esta estos estas ese esa esos esas aquel aquella aquellos",
                "aquellas mi mis tu tus su sus nuestro nuestra nuestros nuestras cada todo toda todos todas algún",
                "alguna ningún ninguna no nunca me te se le les nos os he has ha hemos habéis han había habías",
                "habíamos habían habrá habrán haya hayan hubiera es son era eran está están estaba estaban estoy",
                "estamos soy somos voy vas va vamos van yo tú él ella nosotros nosotras ellos ellas usted ustedes",
                "muy más tan",
            ),
            never_first=_set("años euros pesos dólares"),
        ),
        Language(
            "eu",
            "Basque",
            quotes=("«", "»"),
            abbreviations=_set(_EU_TITLES, "adib orr zk ik art tel k.a k.o"),
            titles=_set(_EU_TITLES),
            ordinals=True,
            # Case endings after an initialism or a foreign name: `NATO-ren`.
            clitics=_set("a ak ek en ena i ko ra rako ren ri n tik z ekin rekin eko etako era erako"),
            begin_lines=_set(
                "eta edo ala baina baizik ezen zeren izan nahiz bestela orduan hala beraz baldin non noiz",
                "nola zergatik",
            ),
            never_last=_set("ez ezin ba bi hiru lau bost hain oso guztiz zein zer ni hi zu gu zuek"),
            never_first=_set(
                "da dira naiz zara gara zarete zen ziren nintzen zinen ginen du dut duzu dugu duzue dute ditu ditut",
                "dituzu ditugu dituzte zuen nuen zenuen genuen zuten zituen nituen zituzten dio diot diogu diote",
                "die zion nion zioten zait zaio zaigu zaie zitzaion dago daude nago gaude zegoen zeuden behar nahi",
                "ahal bezala gabe arte kontra alde buruz ondoren aurretik ostean baino ere omen ote al den diren",
                "duen duten bat batzuk hau hori hura hauek horiek haiek",
            ),
        ),
        Language(
            "ro",
            "Romanian",
            quotes=("„", "”"),
            abbreviations=_set(
                _RO_TITLES, "nr art alin lit pag pg str bd bl ap sc jud com nn vol ed op cit cca aprox tel î.hr d.hr"
            ),
            titles=_set(_RO_TITLES),
            clitics=_set(
                "o a i l m n s t v mi ți și ne vă vi le li lui îl îi îmi îți își am ai are au aș ar ați aveam avea",
                "un una unul ul ului uri urile urilor ul le lor mă te se ce că de la pe e este ești era",
            ),
            # The cedillas of Turkish stood in for the commas below until fonts had them.
            letters={"ş": "ș", "ţ": "ț", "Ş": "Ș", "Ţ": "Ț"},
            diacritics="ăâîșț",
            begin_lines=_set(
                "și sau ori dar iar însă ci nici că dacă când unde cum deși fiindcă deoarece pentru care ce cine",
                "căci decât ca de la în din cu pe prin spre fără sub către despre între după până peste dintre",
                "lângă contra asupra",
            ),
            never_last=_set(
                "un o niște al a ai ale cel cea cei cele acest această acești aceste acel acea acei acele fiecare",
                "nu să mă te se îmi îți își îl îi ne vă le li i am are au aș ar ați vom veți vor voi va fi este e",
                "sunt era erau eram eu tu el ea noi ei ele foarte mai prea tot toată toți toate",
            ),
            never_first=_set("lei ani"),
        ),
        Language(
            "vi",
            "Vietnamese",
            abbreviations=_set(_VI_TITLES, "tp tx tt q p kts"),
            titles=_set(_VI_TITLES),
            begin_lines=_set(
                "và hoặc hay nhưng vì nên nếu khi mà thì để rằng bởi do tuy dù của ở trong ngoài trên dưới với từ",
                "đến tới cho về bằng tại theo qua như giữa",
            ),
            never_last=_set(
                "một các những mỗi mọi từng cái con chiếc cuốn quyển bức người sự việc cuộc nỗi niềm không chưa",
                "chẳng đừng đã đang sẽ sắp vừa mới rất quá là bị được phải có thể cũng vẫn còn tôi anh chị em ông",
                "bà nó họ",
            ),
            never_first=_set("này đó kia ấy đây"),
        ),
    )
}


def language(code: str) -> Language:
    """The conventions of a language by its code; the plain ones for a language without an entry."""
    return LANGUAGES.get(code) or Language(code, code)
