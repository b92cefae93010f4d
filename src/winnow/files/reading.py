"""Reading a text file, with every way in which it can be unusable said as one."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from winnow.errors import SYSTEM_CURES, InputError, Place


def read_text(path: Path) -> str:
    """The file's text (UTF-8), decompressed where its name ends in `.gz`.

    Raises:
        InputError: it is missing, unreadable or not UTF-8.
    """
    return text_of(read_raw(path), path)


def text_of(raw: bytes, path: Path) -> str:
    """`read_text` for bytes that are already in memory; `path` is the name that decides and that errors show."""
    try:
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 text: {error.reason}", place=Place(str(path)), cure="save it as UTF-8, or name the file meant"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        raise _unreadable(path, error) from None


def read_raw(path: Path) -> bytes:
    """The file's bytes.

    Raises:
        InputError: it is missing or unreadable.
    """
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", place=Place(str(path))) from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(
        f"cannot be read: {getattr(error, 'strerror', None) or error}",
        place=Place(str(path)),
        cure=SYSTEM_CURES.get(getattr(error, "errno", None) or 0),
    )
