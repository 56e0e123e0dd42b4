"""Spanish."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "sr sra srta sres dr dra dres d dña prof profa lic ing arq gral cnel sgto fr mons"

LANGUAGE = Language(
    "es",
    "Spanish",
    opening="¿¡",
    quotes=("«", "»"),
    always_lower=words("a.m. p.m."),
    never_upper=words("p.ej"),
    eras=written_forms("a.C. d.C."),
    centuries=words("siglo siglos s ss"),
    always_capital=words("sr sra srta sres dr dra dres dña ud uds vd vds"),
    abbreviations=words(
        _TITLES,
        "ud uds vd vds art arts av avda etc núm pág págs vol cap tel aprox dpto depto admón ej p.ej ee uu vs cía",
        "ee.uu ff.aa jj.oo cc.oo a.c d.c",
    ),
    titles=words(_TITLES),
    diacritics="áéíóúüñ",
    begin_lines=words(
        "y e o u ni pero sino aunque porque pues si cuando donde mientras como que quien quienes cual",
        "cuales cuyo cuya cuyos cuyas de del a al en con por para sin sobre entre hasta desde hacia según",
        "contra durante mediante tras ante bajo",
    ),
    never_last=words(
        "el la los las lo un una unos unas este esta estos estas ese esa esos esas aquel aquella aquellos",
        "aquellas mi mis tu tus su sus nuestro nuestra nuestros nuestras cada todo toda todos todas algún",
        "alguna ningún ninguna no nunca me te se le les nos os he has ha hemos habéis han había habías",
        "habíamos habían habrá habrán haya hayan hubiera es son era eran está están estaba estaban estoy",
        "estamos soy somos voy vas va vamos van yo tú él ella nosotros nosotras ellos ellas usted ustedes",
        "muy más tan",
    ),
    never_first=words("años euros pesos dólares"),
)
