"""`python -m winnow` is the command `winnow`."""

from __future__ import annotations

from winnow.cli.app import main

if __name__ == "__main__":
    main()
