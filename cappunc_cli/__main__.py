"""`python -m cappunc_cli` is `cappunc`."""

from __future__ import annotations

from cappunc_cli.cli import main

if __name__ == "__main__":
    main()
