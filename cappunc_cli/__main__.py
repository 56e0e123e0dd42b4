"""`python -m cappunc_cli` is `cappunc`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. Ctrl-C ends it with exit code 130 even while it is being loaded."""
    try:
        from cappunc_cli.cli.main import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
