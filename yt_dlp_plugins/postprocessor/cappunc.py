"""A post-processor of yt-dlp that restores punctuation and capitals in the subtitles that it has downloaded.

    yt-dlp --write-auto-subs --use-postprocessor Cappunc:when=before_dl URL
    yt-dlp --write-subs --use-postprocessor "Cappunc:when=before_dl;lang=en;fast=true" URL

`when=before_dl` comes before subtitles are embedded, and also with --skip-download. The other arguments are options of
`cappunc fix`. A file that cappunc refuses stays as it is, with a warning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from yt_dlp.postprocessor.common import PostProcessor

from cappunc_cli.errors import CappuncError
from cappunc_cli.files.fixer import Fixer
from cappunc_cli.files.storage import about, content_hash, replace_input
from cappunc_cli.serving.fixing import fix_opened, open_bytes, request_asked


class CappuncPP(PostProcessor):  # type: ignore[misc]
    """Restores each subtitle in its place."""

    def __init__(self, downloader: Any = None, **options: str) -> None:
        super().__init__(downloader)
        try:
            self._fixer = Fixer(request_asked(options.items()), self.report_warning)
            self._fixer.request.check()
        except CappuncError as error:  # wrong usage, which stops yt-dlp before it downloads anything
            raise ValueError(f"cappunc: {error}") from None

    def run(self, info: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
        """Restore what was downloaded; nothing that a subtitle does stops the video."""
        for subtitle in (info.get("requested_subtitles") or {}).values():
            path = Path(subtitle.get("filepath") or "")
            if not path.is_file():
                continue
            try:
                data = path.read_bytes()
                opened = open_bytes(data, path.name, self._fixer)
                fixed = fix_opened(opened)[1]
                if fixed.data != data:
                    replace_input(str(path), fixed.data, content_hash(data))
            except (CappuncError, OSError) as error:
                self.report_warning(f"left as it is: {about(error, path.name)}")
            except Exception as error:
                self.report_warning(f"left as it is, this is a bug of cappunc: {path.name}: {error!r}")
            else:
                self.to_screen(f"{path.name}: {fixed.marks} marks and {fixed.capitals} capitals set")
        return [], info
