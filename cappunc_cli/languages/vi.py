"""Vietnamese."""

from __future__ import annotations

from cappunc_cli.languages.language import Language, words, written_forms

_TITLES = "TS GS PGS ThS BS KS LS GS.TS PGS.TS"

LANGUAGE = Language(
    "vi",
    "Vietnamese",
    forms=written_forms(_TITLES + " TP TX KTS"),
    always_lower=words("v.v."),
    abbreviations=words(_TITLES.lower(), "tp tx tt q p kts v.v"),
    titles=words(_TITLES.lower()),
    begin_lines=words(
        "và hoặc hay nhưng vì nên nếu khi mà thì để rằng bởi do tuy dù của ở trong ngoài trên dưới với từ",
        "đến tới cho về bằng tại theo qua như giữa",
    ),
    never_last=words(
        "một các những mỗi mọi từng cái con chiếc cuốn quyển bức người sự việc cuộc nỗi niềm không chưa",
        "chẳng đừng đã đang sẽ sắp vừa mới rất quá là bị được phải có thể cũng vẫn còn tôi anh chị em ông",
        "bà nó họ",
    ),
    never_first=words("này đó kia ấy đây"),
)
