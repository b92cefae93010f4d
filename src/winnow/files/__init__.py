"""Files and trees that appear whole or not at all, whoever else writes and whenever a writer dies.

Imports `errors` alone. Never knows what the files hold. `write_atomic` replaces one file; `locked` makes
this process the one writer of a directory, and `staged_tree` then replaces that directory as a whole. `Folder` reads
each file of a directory once.
"""

from winnow.files.atomic import write_atomic
from winnow.files.folder import Folder
from winnow.files.lock import MOMENT_S, Kind, Lock, locked
from winnow.files.reading import read_text, text_of
from winnow.files.tree import carry_over, staged_tree

__all__ = [
    "MOMENT_S",
    "Folder",
    "Kind",
    "Lock",
    "carry_over",
    "locked",
    "read_text",
    "staged_tree",
    "text_of",
    "write_atomic",
]
