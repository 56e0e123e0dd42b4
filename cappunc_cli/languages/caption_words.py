"""Word lists that distinguish sounds from asides, and speaker names from remarks.

All languages share them, because a file usually does not say which one it is in.
"""

from __future__ import annotations

import re

#: Stems of words that describe a sound in a caption.
SOUNDS = re.compile(
    r"laugh|chuckl|giggl|applau|clap|cheer|m(?:u\u0301?|ú)[sz]i[ceqk]|sigh|gasp|cough|sneez|sniff|sobb|scream|shout|whisper|groan|grunt"
    r"|moan|snor|yawn|mumbl|murmur|mutter|inaudibl|unintelligibl|indistinct|crosstalk|silence|pauses?\b|beep|buzz|click"
    r"|bang|thud|knock|footstep|siren|gunshot|thunder|bark|chatter|instrumental|theme|noise|static|rustl|playing|clears"
    r"|exhal|inhal|whistl|risas|aplausos|(?:cry|speak|sing|humm|ring)ing\b"
    r"|(?:speak|sing|hum|ring|bell|door|engine|phone)s?\b"
)

#: Bracketed text that stands for speech that was censored or not understood; a time or punctuation only; and `[br]`.
UNHEARD = re.compile(
    r"(?:[\W\d_]*|br)\Z|.*(?:inaudibl|unintelligibl|indistinct|crosstalk|redacted|bleep|censored|foreign|\?)"
)

_ASIDES = """
i i'm i've you you're he he's she she's we we're they it it's is are was were be been am has have had do does did
don't didn't not no and but or so if because which that this these those what who when where how why my your our
can could will would should may might must just also
"""
#: Function words, frequent in asides and rare in descriptions of sounds.
ASIDES = frozenset(_ASIDES.split())
#: Those of ASIDES that a description of a sound may contain: `(man and woman scolding)`.
JOINING = frozenset(("and", "or", "not", "but"))

_NO_NAMES = """
so well and but or yes no ok okay note notice remember question answer example first second third fourth finally
also now then here there this that these those it its it's is are was what why how who where when which because
like i i'm he she we they you my our your his her their tip hint warning step fact point conclusion result problem
solution update ps meaning namely basically translation quote today tomorrow yesterday rule reason chapter part
the a an in on at to of for from if as with not only just one two three four five think imagine consider suppose
coming up next ahead breaking later meanwhile again
say said says asks asked here's there's that's what's who's where's how's let's
"""
#: Words that may come before a colon and are never part of a speaker's name.
NO_NAMES = frozenset(_NO_NAMES.split())

_PARTICLES = "de da di del della van von der den la le el al bin ibn of the and as & y e"
#: Words that may be lower-case inside a name.
PARTICLES = frozenset(_PARTICLES.split())

#: `speaker 1:`, `speaker two:` and `speaker a:` name a speaker, in upper or lower case.
GENERIC_LABEL = re.compile(
    r"(?:(?:speaker|spk|spkr|unknown speaker|sprecher|locutor|hablante|vorbitor)[ _#-]*[0-9]+"
    r"|speaker[ _#-]+(?:one|two|three|four|five|six|seven|eight|nine|ten|[a-z]))",
    re.IGNORECASE,
)

#: The device that carries an off-screen voice, after a name: `JOHN ON PHONE:`, `WOMAN OVER PA:`.
THROUGH = re.compile(
    r"\s+(?:on|over|via|through)\s+(?:the\s+)?(?:p\.?\s?a\.?|t\.?v\.?|television|radio|(?:tele)?phone|cell|mobile"
    r"|intercom|(?:loud)?speaker(?:phone)?|recording|recorder|tape|video|film|monitor|screen|laptop|computer|headset"
    r"|earpiece|comms?|walkie-talkie|megaphone|voicemail|(?:answering )?machine)\Z",
    re.IGNORECASE,
)
_UNNAMED = """
man men woman women boy boys girl girls child children kid kids voice voices male female guy lady gentleman crowd
reporter announcer narrator newscaster anchor dispatcher operator officer soldier driver pilot student teacher
"""
#: Nouns for an unnamed speaker, which a description may follow: `MAN IN CROWD:`.
UNNAMED = frozenset(_UNNAMED.split())
