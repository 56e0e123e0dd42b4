"""A user's glossary, read from its file."""

from __future__ import annotations

from cappunc_cli.application.storage.files import about, checked_name, read_text
from cappunc_cli.errors import CappuncError, WrongUsage
from cappunc_cli.restoration.terms import Glossary, parse_glossary


def load_glossary(path: str) -> Glossary:
    """The glossary in a file; raises CappuncError, and WrongUsage where there is no such file."""
    try:
        text, _ = read_text(checked_name(path))
    except OSError as error:
        raise WrongUsage(f"--glossary: {about(error, path)}") from error
    except CappuncError as error:
        raise about(error, path) from error
    return Glossary.of(parse_glossary(text, path))
