"""Dutch."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "dhr mevr mw mej dr drs prof"
_DOTTED = (
    "a.u.b c.q d.w.z e.d e.a i.p.v i.v.m m.a.w m.b.t m.n m.u.v n.a.v o.a o.l.v o.m p.m s.v.p t.a.v t.g.v t.n.v"
    " t.o.v t.z.t z.g z.i z.o.z"
)

LANGUAGE = Language(
    "nl",
    "Dutch",
    # At the start of a sentence the next word takes the capital: 's Avonds.
    always_lower=words("'s 't 'n 'k 'm"),
    abbreviations=words(
        _TITLES,
        _DOTTED,
        "afd bijv blz ca enz evt jr etc mln nl nr pct sr tel vgl vnl zg zgn v.chr n.chr chr",
    ),
    forms=written_forms("v.Chr n.Chr"),
    never_upper=words(_DOTTED),
    titles=words(_TITLES),
    # As in 83 of 87 in the training texts.
    lower_titles=True,
    clitics=words("'s 't 'n"),
    # As in 283 of 311 compounds of the training texts that the lexicon lacks.
    lower_after_acronyms=True,
    digraph="ij",
    linking=words("aan bij de den der en het in op te ten ter van von voor"),
    begin_lines=words(
        "en of maar want dus dat die wie wat waar wanneer hoe waarom omdat doordat hoewel terwijl voordat nadat",
        "zodat zodra als of aan achter bij binnen boven buiten door in langs met na naar naast onder op over sinds",
        "tegen tot tussen uit van vanaf via volgens voor zonder",
    ),
    never_last=words(
        "de het een deze dit mijn jouw zijn haar ons onze jullie hun elke elk iedere ieder geen niet nooit",
        "ik jij je hij zij ze we wij u er heb hebt heeft hebben had is was waren ben bent zal zullen kan kunnen",
        "heel erg zeer te zo",
    ),
    never_first=words("procent uur euro jaar"),
)
