"""Opening a sweep's database: one writer at a time, every statement committed at once, errors with a place."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from winnow.errors import SYSTEM_CURES, Incomplete, InputError, Place
from winnow.sweep.schema import SCHEMA, SCHEMA_VERSION


class Database:
    """A connection whose errors are the user's. Outside `together` each statement is its own transaction."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run one statement; returns the id of the row that it inserted last."""
        with self._errors():
            return self._connection.execute(statement, values).lastrowid or 0

    def write_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run one statement for each of several rows."""
        with self._errors():
            self._connection.executemany(statement, rows)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Every row of a query."""
        with self._errors():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def together(self) -> Iterator[None]:
        """All statements of the block, or none of them."""
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        with self._errors():
            self._connection.execute("COMMIT")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.DatabaseError as error:
            raise InputError(
                f"the sweep database failed: {error}",
                place=Place(str(self.path)),
                cure="move it away and run `winnow sweep`" if type(error) is sqlite3.DatabaseError else None,
            ) from None


@contextmanager
def writing(path: Path) -> Iterator[Database]:
    """The database at `path` for the one sweep that may write to it; made if there is none.

    Raises:
        InputError: another sweep writes to it, or the file is something else.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path.with_name(path.name + ".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    except OSError as error:
        cure = SYSTEM_CURES.get(error.errno or 0)
        raise InputError(f"cannot be written: {error.strerror}", place=Place(str(path)), cure=cure) from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                "another sweep is writing to this database",
                place=Place(str(path)),
                cure="wait for it or stop it: two sweeps at once would disturb each other's timings",
            ) from None
        with _connected(path) as database:
            yield database
    finally:
        os.close(lock)


@contextmanager
def reading(path: Path) -> Iterator[Database]:
    """The database at `path`, which must exist.

    Raises:
        Incomplete: there is none.
        InputError: the file is something else.
    """
    if not path.is_file():
        raise Incomplete("no measurements", place=Place(str(path)), cure="run `winnow sweep` first")
    with _connected(path) as database:
        yield database


@contextmanager
def _connected(path: Path) -> Iterator[Database]:
    try:
        connection = sqlite3.connect(path, isolation_level=None)
    except sqlite3.OperationalError as error:
        raise InputError(f"cannot be opened: {error}", place=Place(str(path))) from None
    try:
        database = Database(path, connection)
        _prepare(database)
        yield database
    finally:
        connection.close()


def _prepare(database: Database) -> None:
    ((version,),) = database.rows("PRAGMA user_version")
    tables = database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    if version == 0 and not tables:
        database.write("PRAGMA journal_mode = WAL")
        with database.together():
            for statement in SCHEMA.split(";\n"):
                database.write(statement)
            database.write(f"PRAGMA user_version = {SCHEMA_VERSION}")
    elif version != SCHEMA_VERSION:
        raise InputError(
            f"not a sweep database of this version of Winnow (it has version {version}, expected {SCHEMA_VERSION})",
            place=Place(str(database.path)),
            cure="move the file away; `winnow sweep` starts a new one",
        )
    # A killed process loses nothing that was committed; only a power failure may cost the last measurements.
    database.write("PRAGMA synchronous = NORMAL")
    database.write("PRAGMA foreign_keys = ON")
