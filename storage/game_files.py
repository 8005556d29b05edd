"""Games as files: JSON for any game, moves in one line of text, SGF for games on points. The file's ending decides.

Many games, such as a match, are one file of lines (.jsonl), each the JSON of a game. A file may come from anybody:
every move is played by the rules, and any fault becomes one `UserError`.
"""

from __future__ import annotations

import codecs
import datetime
import itertools
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import games
from config import UserError
from game import Game, GameState
from games.own import lies_elsewhere
from storage import sgf
from storage.atomic_files import open_regular, write_file

T = TypeVar("T")
FORMS = (".json", ".txt", ".sgf")
LINES = ".jsonl"
LIMIT = 1_000_000
"""Largest size of a file in bytes."""
_LONGEST_NAME = 100
PERSON = "you"
"""The name of a person among the players of a game."""


class Record(NamedTuple):
    """A game as it was played, finished or not; its moves are legal."""

    game: Game
    moves: list[int]
    result: float | None = None
    """For the player who began: 1 won, 0 drawn, -1 lost, perhaps a value between; None while it is not decided.

    If the game is not over by the rules, a player resigned.
    """
    players: tuple[str, str] = ("", "")
    """(player who began, other player); may be empty."""
    date: str = ""
    """For example 2026-12-31; may be empty."""


# ---- files


def load(path: Path, game: Game | None = None) -> Record:
    """Read a file, which must be of `game` if that is given; raise `UserError` naming the file and the fault."""
    form = _form(path)
    try:
        _check_file(path)
        with open_regular(path) as file:
            data = file.read(LIMIT + 1)
        return from_bytes(data, form, game)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise UserError("expected a file, this is a folder" if path.is_dir() else "expected a file, there is none")


def save(path: Path, record: Record) -> None:
    """Write a file in one step: the old one stays until the new one is complete."""
    try:
        write_file(path, to_bytes(record, _form(path)))
    except OSError as error:
        moves = record.game.format_moves(record.moves)
        raise UserError(f"{path}: cannot be written ({error.strerror}); the moves were {moves}") from None


def append(path: Path, records: Iterable[Record]) -> None:
    """Add games to a file of lines; they are on the disk when this returns."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0) as file:
            before, data = file.tell(), b"".join(to_bytes(record, ".json") for record in records)
            try:
                while data:
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(before)  # leave no half of a line
                raise
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def load_game(path: Path, number: int = 1, game: Game | None = None) -> Record:
    """Load game `number`, from 1, of a file of lines; of any other file its only game."""
    if _form(path, (*FORMS, LINES)) != LINES:
        if number != 1:
            raise UserError(f"{path}: expected game 1, the only one, got {number}")
        return load(path, game)
    try:
        _check_file(path)
        with open_regular(path) as file:
            for count in itertools.count(1):
                line = file.readline(LIMIT + 1)
                while line.isspace():  # an empty line is no game
                    line = file.readline(LIMIT + 1)
                if not line or len(line) > LIMIT and count < number:
                    if count == 1 and not line:
                        raise UserError("expected games, the file is empty")
                    what = "a longer line" if line else f"{number}"
                    raise UserError(f"expected a game from 1 to {count - 1}, got {what}")
                if count == number:
                    return from_bytes(line, ".json", game)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    raise RuntimeError("expected an end of the file")


def check_place(path: Path, game: Game, *, overwrite: bool = False, forms: tuple[str, ...] = FORMS) -> None:
    """Raise `UserError` if a game could not be saved there; called before it is played, so that no game is lost."""
    if _form(path, forms) == ".sgf":
        sgf.check_game(game)
    check_free(path, overwrite=overwrite)


def check_free(path: Path, *, overwrite: bool = False) -> None:
    """Raise `UserError` if a file could not be written there, or would be replaced without `overwrite`."""
    try:
        if path.is_dir():
            raise UserError(f"{path}: expected a file, this is a folder")
        if (path.exists() or path.is_symlink()) and not overwrite:
            raise UserError(f"{path}: is there already; --overwrite replaces it")
        trial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        trial.unlink()
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def _form(path: Path, forms: tuple[str, ...] = FORMS) -> str:
    form = path.suffix.lower()
    if form not in forms:
        known = " or ".join(", ".join(forms).rsplit(", ", 1))
        raise UserError(f"expected a file name that ends in {known}, got {path.name!r}")
    return form


# ---- forms


def to_bytes(record: Record, form: str) -> bytes:
    """Return the content of a file in a form: .json, .txt or .sgf."""
    game, moves = record.game, record.moves
    if form == ".txt":
        return (game.format_moves(moves) + "\n").encode()
    if form == ".sgf":
        sgf.check_game(game)
        end = _replay(game, moves, lambda action, state: action)[1]
        return sgf.write(game, moves, end, result=record.result, players=record.players, date=record.date)
    values: dict[str, Any] = {"game": game.spec, "moves": [game.move_name(a) for a in moves], "result": record.result}
    if any(record.players):
        values["players"] = list(record.players)
    if record.date:
        values["date"] = record.date
    return (json.dumps(values) + "\n").encode()


def from_bytes(data: bytes, form: str, game: Game | None = None) -> Record:
    """Return the game of a file's content; `game` is needed for .txt, which holds moves only."""
    if len(data) > LIMIT:
        raise UserError(f"expected at most {LIMIT:,} bytes, got a larger file")
    if b"\0" in data:
        raise UserError("expected text in UTF-8, got UTF-16 or no text")
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data.strip():
        raise UserError("expected a game, the file is empty")
    if form == ".sgf":
        return _from_sgf(data, game)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError("expected text in UTF-8, got another encoding or no text") from None
    return _from_json(text, game) if form == ".json" else _from_text(text, game)


def _from_text(text: str, game: Game | None) -> Record:
    if game is None:
        raise UserError("the moves do not tell of which game they are; name the game with --game")
    if len(text) > (longest := 100 + 40 * game.max_plies):
        raise UserError(f"expected at most {longest:,} characters for {game.spec}, got {len(text):,}")
    moves, end = _replay(game, game.parse_moves(text), lambda action, state: action)
    return Record(game, moves, _result_by_rules(end))


def _from_sgf(data: bytes, game: Game | None) -> Record:
    sheet = sgf.read(data, game)
    moves, end = _replay(sheet.game, sheet.moves, lambda stone, state: sgf.action_of(sheet.game, state, stone))
    date = sheet.date if _is_date(sheet.date) else ""
    return Record(sheet.game, moves, _result_by_rules(end) if end.isEndGame else sheet.result, sheet.players, date)


def _from_json(text: str, game: Game | None) -> Record:
    try:
        values = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise UserError("expected JSON such as {\"game\": \"tictactoe\", \"moves\": [\"b2\"]}") from None
    if not isinstance(values, dict):
        raise UserError(f"expected an object, got {_as_json(values)}")
    for key, expected, good in _FIELDS:
        if (key in values or key in ("game", "moves")) and not good(values.get(key)):
            raise UserError(f"{key}: expected {expected}, got {_as_json(values.get(key))}")
    if unknown := sorted(set(values) - {key for key, *_ in _FIELDS}):
        raise UserError(f"expected {', '.join(key for key, *_ in _FIELDS)} only, got {unknown[0][:40]!r}")
    if game is None:
        game = games.make(values["game"], typed=False)
    elif not _names(values["game"], game):
        raise UserError(f"expected a game of {game.spec}, got one of {values['game'][:60]}")
    moves, end = _replay(game, values["moves"], lambda name, state: game.parse_move(name))
    stated, found = values.get("result"), _result_by_rules(end)
    if end.isEndGame and stated is not None and abs(stated - (found or 0)) > 1e-6:
        raise UserError(f"result: expected {found:g} by the rules, got {stated:g}")
    if not end.isEndGame and stated not in (None, 1, 0, -1):
        raise UserError(f"result: expected 1, 0, -1 or null for a game given up, got {stated:g}")
    result = found if end.isEndGame else None if stated is None else float(stated)
    players = values.get("players", ("", ""))
    return Record(game, moves, result, (players[0], players[1]), values.get("date", ""))


def _names(spec: str, game: Game) -> bool:
    return spec == game.spec or lies_elsewhere(spec, game) or games.make(spec, typed=False).spec == game.spec


def _as_json(value: Any) -> str:
    try:
        text = json.dumps(value)
    except RecursionError:
        return f"a deep {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_NAME and value.isprintable()


def _is_date(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


_FIELDS: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("game", "the name of a game", lambda v: isinstance(v, str) and len(v) <= 1000),
    ("moves", "a list of names", lambda v: isinstance(v, list) and all(isinstance(name, str) for name in v)),
    ("result", "a number from -1 to 1 or null",
     lambda v: v is None or (isinstance(v, int | float) and not isinstance(v, bool) and -1 <= v <= 1)),
    ("players", f"two names of at most {_LONGEST_NAME} printable characters",
     lambda v: isinstance(v, list) and len(v) == 2 and all(map(_is_name, v))),
    ("date", "a day such as 2026-12-31", _is_date),
)  # fmt: skip
"""(key, what is expected, check of a value) of the JSON form; only game and moves are required."""


def _replay(game: Game, moves: Iterable[T], action_of: Callable[[T, GameState], int]) -> tuple[list[int], GameState]:
    """Play moves by the rules; raise `UserError` with the number of the first illegal one."""
    actions: list[int] = []
    state = game.start()
    for number, move in enumerate(moves, 1):
        try:
            actions.append(action_of(move, state))
            state = state.takeAction(actions[-1])[0]
        except UserError as error:
            raise UserError(f"move {number}: {error}") from None
    return actions, state


def _result_by_rules(end: GameState) -> float | None:
    return end.value * end.playerTurn if end.isEndGame else None
