"""Words in lines and captions: where a line breaks, where a caption ends, and captions as SRT or WebVTT.

Nothing here runs unless it is asked for (`cappunc captions`): `fix` leaves every line as it is.
"""

from __future__ import annotations

from .channels import as_heard
from .cues import Caption, cut
from .limits import Limits
from .lines import Lines
from .writing import KINDS, render

__all__ = ["KINDS", "Caption", "Limits", "Lines", "as_heard", "cut", "render"]
