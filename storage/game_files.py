"""Games as files: JSON for any game, moves in one line of text, SGF for games on points.

Read are also .psq of Piskvork, and of Othello .ggf, WTHOR's .wtb and positions as in FFO's tests (.obf).

Many games, such as a match, are one file of lines (.jsonl), each the JSON of a game. A file may come from anybody:
every move is played by the rules, and any fault becomes one `UserError`. What a file from elsewhere states is kept, and
what was not read of it, or differs by our rules, are its notes.
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

import numpy as np

import games
from config import UserError
from game import Game, GameState
from games.line_of_moves import long_enough, ready
from games.own import lies_elsewhere
from storage import othello_files, psq, setup_json, sgf, sgf_collection
from storage.atomic_files import check_free as check_free
from storage.atomic_files import not_written, write_file
from storage.sgf_facts import margin_of
from system.reading import open_regular

T = TypeVar("T")
FORMS = (".json", ".txt", ".sgf")
SEVERAL = (".sgf", ".ggf", ".wtb", ".obf")
"""Forms of which a file may hold several games."""
READ = (*FORMS, ".psq", ".ggf", ".wtb", ".obf")
"""Forms that are read; those of `FORMS` are also written."""
LINES = ".jsonl"
LIMIT = 1_000_000
"""Largest size in bytes of a file, or of one game of a file of lines or of a collection in SGF."""
_LONGEST_NAME, _LONGEST_REASON = 100, 300
PERSON = "you"
"""The name of a person among the players of a game."""


class Record(NamedTuple):
    """A game as it was played, finished or not; its moves are legal, see `games.line_of_moves.follow`."""

    game: Game
    """It may begin with a position set up (`Game.set_up_from`)."""
    moves: list[int]
    result: float | None = None
    """For player 1: 1 won, 0 drawn, -1 lost, perhaps a value between; None while it is not decided.

    If the game is not over by the rules, a player resigned. A file from elsewhere may state another result than ours.
    """
    players: tuple[str, str] = ("", "")
    """(player 1, who usually begins, other player); may be empty."""
    date: str = ""
    """For example 2026-12-31; may be empty."""
    stated: dict[str, str] = {}
    """{result, rules, handicap, date: the words of a file from elsewhere}, as far as we would write others."""
    notes: tuple[str, ...] = ()
    """One line each on what of a file was not read and where our rules differ."""
    seconds: tuple[float, ...] = ()
    """Seconds that each move took; () if they were not measured."""
    forfeit: str = ""
    """Why the loser lost by rule, not by play, such as a program that failed; "" if nobody did."""
    numbers: tuple[int, ...] = ()
    """Those of the moves in a file: one that is set up is left out, a pass put in has that of the move after it; () =
    1, 2 and so on."""

    def first_moves(self, count: int) -> Record:
        """Return the game after its first `count` moves, not decided."""
        stated = {key: words for key, words in self.stated.items() if key != "result"}
        seconds, numbers = self.seconds[:count], self.numbers[:count]
        return self._replace(
            moves=self.moves[:count], result=None, stated=stated, seconds=seconds, forfeit="", numbers=numbers
        )


# ---- files


def load(path: Path, game: Game | None = None) -> Record:
    """Read a file, which must be of `game` if that is given; raise `UserError` naming the file and the fault."""
    return _load(path, 1, game)


def _load(path: Path, number: int, game: Game | None) -> Record:
    form = _form(path, READ)
    try:
        _check_file(path)
        with open_regular(path) as file:
            data = file.read(LIMIT + 1)
            if form != ".sgf" or len(data) <= LIMIT:
                return from_bytes(data, form, game, number)
            file.seek(0)
            record = from_bytes(sgf_collection.game_in(file, number, LIMIT), form, game)
        return record._replace(notes=(f"the file holds several games: this is game {number}", *record.notes))
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
        raise not_written(path, error, f"; the moves were {record.game.format_moves(record.moves)}") from None


def append(path: Path, records: Iterable[Record], *, afresh: bool = False) -> None:
    """Add games to a file of lines, or to a collection in SGF; they are on the disk when this returns.

    afresh: they take the place of what the file holds, in one step.
    """
    form = ".sgf" if _form(path, (LINES, ".sgf")) == ".sgf" else ".json"
    data = b"".join(to_bytes(record, form) for record in records)
    try:
        if afresh:
            return write_file(path, data)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab", buffering=0) as file:
            before = file.tell()
            try:
                while data:
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(before)  # leave no half of a line
                raise
    except OSError as error:
        raise not_written(path, error) from None


def load_game(path: Path, number: int = 1, game: Game | None = None) -> Record:
    """Load game `number`, from 1, of a file of lines or of a form of `SEVERAL`; of any other file its only game."""
    form = _form(path, (*READ, LINES))
    if form != LINES:
        if number != 1 and form not in SEVERAL:
            raise UserError(f"{path}: expected game 1, the only one, got {number}")
        return _load(path, number, game)
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


def check_place(
    path: Path, game: Game, *, overwrite: bool = False, forms: tuple[str, ...] = FORMS,
    stated: dict[str, str] | None = None,
) -> None:
    """Raise `UserError` if a game could not be saved there; called before it is played, so that no game is lost.

    stated: as in `Record`.
    """
    form = _form(path, forms)
    if form == ".sgf":
        sgf.check_game(game, [other for other in forms if other != ".sgf"])
    # Stones set up, and White's points for them, do not fit every form
    to_bytes(Record(game, [], stated=stated or {}), ".json" if form == LINES else form)
    check_free(path, overwrite=overwrite)


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
        if game.set_up_from is not None:
            raise UserError("expected a .json or .sgf file: the game begins with stones set up, .txt holds moves only")
        return (game.format_moves(moves) + "\n").encode()
    if form == ".sgf":
        sgf.check_game(game)
        end = _replay(game, moves, lambda action, state: action)[1]
        return sgf.write(
            game, moves, end, record.result, record.players, record.date, record.stated, record.seconds, record.forfeit
        )
    values: dict[str, Any] = {"game": game.spec, "moves": [game.move_name(a) for a in moves], "result": record.result}
    if any(record.players):
        values["players"] = list(record.players)
    if record.date:
        values["date"] = record.date
    if record.stated:
        values["stated"] = record.stated
    if record.seconds:
        values["seconds"] = [round(seconds, 3) for seconds in record.seconds]
    if record.forfeit:
        values["forfeit"] = record.forfeit[:_LONGEST_REASON]
    if game.set_up_from is not None:
        values["setup"] = setup_json.as_json(game)
    return (json.dumps(values) + "\n").encode()


def from_bytes(data: bytes, form: str, game: Game | None = None, number: int = 1) -> Record:
    """Return the game of a file's content, of a form with several games game `number`.

    .txt needs `game`: it holds moves only.
    """
    if len(data) > LIMIT:
        raise UserError(f"expected at most {LIMIT:,} bytes, got a larger file")
    if form == ".wtb" and data.strip():
        return _from_othello(othello_files.read_wtb(data, number), game)
    if b"\0" in data:
        raise UserError("expected text in UTF-8, got UTF-16 or no text")
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data.strip():
        raise UserError("expected a game, the file is empty")
    if form == ".sgf":
        return _from_sgf(data, game, number)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        if form not in (".psq", ".ggf"):  # of these only names are not ASCII
            raise UserError("expected text in UTF-8, got another encoding or no text") from None
        text = data.decode("latin-1")
    if form == ".ggf":
        return _from_othello(othello_files.read_ggf(text, number), game)
    if form == ".obf" or (form == ".txt" and game is not None and game.name == "othello"):
        sheet = othello_files.read_position(text, number)
        if sheet is not None:
            return _from_othello(sheet, game)
        if form == ".obf":
            raise UserError("expected lines of 64 points of X, O and -, then who moves")
    return {".json": _from_json, ".psq": _from_psq, ".txt": _from_text}[form](text, game)


def _from_text(text: str, game: Game | None) -> Record:
    if game is None:
        raise UserError("the file does not name its game; name it with --game")
    if len(text) > (longest := 100 + 40 * game.max_plies):
        raise UserError(f"expected at most {longest:,} characters for {game.spec}, got {len(text):,}")
    given = game.parse_moves(text)
    game = long_enough(game, len(given))
    moves, end = _replay(game, given, lambda action, state: action)
    more = game.left_out(text)
    notes = (f"left out: {more}",) if more else ()
    return Record(game, moves, _result_by_rules(end), notes=notes)


def _from_psq(text: str, game: Game | None) -> Record:
    sheet = psq.read(text)
    if game is not None and (game.name != psq.GAME or game.grid_shape[0] != sheet.size):
        raise UserError(f"expected a game of {game.spec}, got one of {psq.GAME}(size={sheet.size})")
    rules = [sheet.rule] if sheet.rule else ["freestyle", "exact"]
    specs = [f"{psq.GAME}(size={sheet.size},rule={rule})" for rule in rules]
    fault, known = None, [game] if game else [games.make(spec) for spec in specs]
    for found in known:
        try:
            moves, end = _replay(found, sheet.moves, lambda spot, state: spot[1] * sheet.size + spot[0])
        except UserError as error:
            fault = fault or error
            continue
        words = "freestyle" if not fault else "exact: six in a row did not end it"
        notes = () if game or sheet.rule else (f"the file names no rule: the game is read as {words}",)
        return Record(found, moves, _result_by_rules(end), sheet.players, notes=(*sheet.notes, *notes))
    raise fault or RuntimeError("expected a rule to read the game by")


def _from_othello(sheet: othello_files.Sheet, game: Game | None) -> Record:
    if game is not None and (game.name, game.grid_shape) != (sheet.game.name, sheet.game.grid_shape):
        raise UserError(f"expected a game of {game.spec}, got one of {sheet.game.spec}")
    actions: list[int] = []
    state = sheet.game.start()
    for number, move in enumerate(sheet.moves, 1):
        try:
            for action in othello_files.actions_of(sheet.game, state, move):
                state = state.takeAction(action)[0]
                actions.append(action)
        except UserError as error:
            raise UserError(f"move {number}: {error}") from None
    found, lead, stated, notes = _result_by_rules(state), sheet.lead, dict(sheet.stated), list(sheet.notes)
    result = found if lead is None else float(np.sign(lead))
    date = stated.pop("date") if _is_date(stated.get("date")) else ""
    ours = (state.score[0] - state.score[1]) * state.playerTurn
    if found is not None and result is not None and lead not in (None, ours, _with_empty(state, ours)):
        notes.append(f"the file says {stated['result'][:40]}, which is kept; by our rules Black has {ours:+g} discs")
    elif found is not None:
        stated.pop("result", None)
    elif lead is None and "result" in stated:
        notes.append(f"RE[{stated['result'][:40]}] names no result")
    return Record(sheet.game, actions, result, sheet.players, date, stated, tuple(notes))


def _with_empty(state: GameState, lead: float) -> float:
    """Return a lead in discs with the empty points given to the winner, as Othello's records count."""
    owners = state.owners
    empty = int((owners == 0).sum()) if owners is not None else 0
    return lead + empty * float(np.sign(lead))


def _from_sgf(data: bytes, game: Game | None, number: int) -> Record:
    sheet = sgf.read(data, game, number)
    numbers = [stone.number for stone in sheet.moves]
    moves, end = _replay(sheet.game, sheet.moves, lambda stone, state: sgf.action_of(sheet.game, state, stone), numbers)
    result, note = _stated_result(sheet, end)
    stated = dict(sheet.stated)
    ours = result == _result_by_rules(end) or not end.isEndGame
    forfeit = sheet.forfeit if result and not end.isEndGame else ""
    if ours and stated.get("result") == sgf.result_text(sheet.game, end, result, forfeit):  # as we write it
        del stated["result"]
    date = stated.pop("date") if _is_date(stated.get("date")) else ""
    notes = (*sheet.notes, *note)
    theirs = () if numbers == [*range(1, len(moves) + 1)] else tuple(numbers)
    return Record(sheet.game, moves, result, sheet.players, date, stated, notes, forfeit=forfeit, numbers=theirs)


def _stated_result(sheet: sgf.Sheet, end: GameState) -> tuple[float | None, list[str]]:
    """Return the result that a file states, else that of the rules, and notes on the difference."""
    text, result, found = sheet.stated.get("result", ""), sheet.result, _result_by_rules(end)
    ours = sgf.result_text(sheet.game, end, found) if found is not None else ""
    if result is None and not text.lower().startswith("void"):
        known = [f"RE[{text[:40]}] names no result"] if text.strip("?") else []
        told = [f"the file states no result: by our count it is {ours}"] if ours else []
        return found, known + told
    result = found if found is not None and np.sign(found) == result else result
    if ours and (result != found or margin_of(text) not in (None, margin_of(ours))):
        dead = "; stones that the players took as dead count as alive here" if sheet.game.scored_by_area else ""
        return result, [f"the file says {text[:40]}, which is kept; by our rules it is {ours}{dead}"]
    return result, []


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
    game = long_enough(game, len(values["moves"]))
    game = setup_json.from_json(game, values["setup"]) if "setup" in values else game
    moves, end = _replay(game, values["moves"], lambda name, state: game.parse_move(name))
    stated, found, words = values.get("result"), _result_by_rules(end), values.get("stated", {})
    by_rules = end.isEndGame and "result" not in words
    if by_rules and stated is not None and abs(stated - (found or 0)) > 1e-6:
        raise UserError(f"result: expected {found:g} by the rules, got {stated:g}")
    if not by_rules and stated not in (None, 1, 0, -1):
        raise UserError(f"result: expected 1, 0, -1 or null for a game given up, got {stated:g}")
    result = found if by_rules else None if stated is None else float(stated)
    notes = (f"the file says {words['result']}, which is kept",) if "result" in words else ()
    players = values.get("players", ("", ""))
    seconds = tuple(map(float, values.get("seconds", ())))[: len(moves)]
    forfeit = values.get("forfeit", "")
    if forfeit and (end.isEndGame or not result):
        raise UserError("forfeit: expected a game that is not over by the rules, and a winner")
    return Record(
        game, moves, result, (players[0], players[1]), values.get("date", ""), words, notes, seconds, forfeit
    )


def _names(spec: str, game: Game) -> bool:
    same = spec == game.spec or lies_elsewhere(spec, game)
    return same or (".py" not in spec and games.make(spec, typed=False).spec == game.spec)


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


def _is_stated(value: Any) -> bool:
    known = ("result", "rules", "handicap", "date")
    return isinstance(value, dict) and all(key in known and _is_name(words) for key, words in value.items())


_FIELDS: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("game", "the name of a game", lambda v: isinstance(v, str) and len(v) <= 1000),
    ("moves", "a list of names", lambda v: isinstance(v, list) and all(isinstance(name, str) for name in v)),
    ("result", "a number from -1 to 1 or null",
     lambda v: v is None or (isinstance(v, int | float) and not isinstance(v, bool) and -1 <= v <= 1)),
    ("players", f"two names of at most {_LONGEST_NAME} printable characters",
     lambda v: isinstance(v, list) and len(v) == 2 and all(map(_is_name, v))),
    ("date", "a day such as 2026-12-31", _is_date),
    ("stated", "result, rules, handicap or date with words", _is_stated),
    ("setup", "black, white and turn such as {\"black\": [\"c3\"], \"white\": [], \"turn\": \"white\"}",
     setup_json.is_json),
    ("seconds", "a list of seconds, one for each move",
     lambda v: isinstance(v, list) and all(type(n) in (int, float) and 0 <= n < 1e9 for n in v)),
    ("forfeit", f"a reason of at most {_LONGEST_REASON} printable characters",
     lambda v: isinstance(v, str) and len(v) <= _LONGEST_REASON and v.isprintable()),
)  # fmt: skip
"""(key, what is expected, check of a value) of the JSON form; only game and moves are required."""


def _replay(
    game: Game, moves: Iterable[T], action_of: Callable[[T, GameState], int], numbers: Iterable[int] = ()
) -> tuple[list[int], GameState]:
    """Play moves by the rules; raise `UserError` with the number of the first illegal one; `numbers`: in the file."""
    actions: list[int] = []
    state = game.start()
    for number, move in zip(numbers or itertools.count(1), moves, strict=False):
        try:
            state = ready(game, state)
            actions.append(action_of(move, state))
            state = state.takeAction(actions[-1])[0]
        except UserError as error:
            raise UserError(f"move {number}: {error}") from None
    return actions, state


def _result_by_rules(end: GameState) -> float | None:
    return end.value * end.playerTurn if end.isEndGame else None
