"""Reading a text file, with every way in which it can be unusable said as one."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from winnow.errors import InputError, Place


def read_text(path: Path) -> str:
    """The file's text (UTF-8), decompressed where its name ends in `.gz`.

    Raises:
        InputError: it is missing, unreadable or not UTF-8.
    """
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except FileNotFoundError:
        raise InputError("no such file", place=Place(str(path))) from None
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8 text: {error.reason}", place=Place(str(path))) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", place=Place(str(path))) from None
