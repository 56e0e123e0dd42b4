"""Caption layout: where lines break, where captions end, and how captions are written to a file.

Only `cappunc captions` and live captions use this package; `cappunc fix` leaves every line break as it is.
"""

from __future__ import annotations

from cappunc_cli.layout.caption_files import CAPTION_FORMATS, render
from cappunc_cli.layout.caption_profiles import Limits
from cappunc_cli.layout.line_breaks import LineBreaker
from cappunc_cli.layout.segmentation import Caption, cut

__all__ = ["CAPTION_FORMATS", "Caption", "Limits", "LineBreaker", "cut", "render"]
