"""`python -m cappunc_cli` is `cappunc`."""

from __future__ import annotations

import signal
import sys
from typing import NoReturn

from cappunc_cli.errors import stop_code, stopped_by


def _stop(number: int, _: object) -> NoReturn:
    stopped_by.append(signal.Signals(number))
    raise KeyboardInterrupt


def main() -> None:
    """Run the command line. Ctrl-C, SIGTERM and SIGHUP end it in the same way, even while it is being loaded."""
    try:
        for name in ("SIGTERM", "SIGHUP"):
            # `nohup` ignores the latter.
            if (number := getattr(signal, name, None)) is not None and signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, _stop)
        from cappunc_cli.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(stop_code())


if __name__ == "__main__":
    main()
