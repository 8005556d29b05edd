"""Connections to SQLite: an error is raised as what it means to the user, wherever SQLite meets it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Meaning = Callable[[sqlite3.Error], Exception]
"""Returns the error to raise for an error of SQLite."""


class _Cursor(sqlite3.Cursor):
    """A cursor that raises what an error of SQLite means, at the call or in the midst of the rows."""

    connection: _Connection

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except UnicodeDecodeError as error:  # the damaged text in a message cannot be decoded
            raise self.connection.meaning(sqlite3.DatabaseError(f"damaged text ({error.reason})")) from None
        except sqlite3.Error as error:
            raise self.connection.meaning(error) from None

    def execute(self, *args: Any) -> _Cursor:
        with self._explained():
            super().execute(*args)
        return self

    def executemany(self, *args: Any) -> _Cursor:
        with self._explained():
            super().executemany(*args)
        return self

    def fetchone(self) -> Any:
        with self._explained():
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with self._explained():
            return super().fetchall()

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except sqlite3.Error as error:
            raise self.connection.meaning(error) from None


class _Connection(sqlite3.Connection):
    meaning: Meaning = staticmethod(lambda error: error)

    def execute(self, *args: Any) -> sqlite3.Cursor:
        return self.cursor(_Cursor).execute(*args)

    def executemany(self, *args: Any) -> sqlite3.Cursor:
        return self.cursor(_Cursor).executemany(*args)


def connect(uri: str, meaning: Meaning | None = None) -> sqlite3.Connection:
    """Open a database; damaged text is read with replacement characters, and its checksum then fails.

    meaning: returns what is raised in the place of SQLite's errors.
    """
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, factory=_Connection)
    db.text_factory = lambda data: data.decode(errors="replace")
    if meaning is not None:
        db.meaning = meaning
    return db
