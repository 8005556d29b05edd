"""Files of self-play games, to exchange memory with others: a game counts only after the rules have confirmed it.

The file is an .npz of plain arrays of G games, P moves and S full searches: head [4] int64: FORMAT, G, P, S; about
[2048] uint8: JSON with game, rules, run; result [G] float32, for the player who began; length, iteration, index [G]
int32; moves [P] int16; values [P] float32; full [P] uint8; visits [S, action_size] uint16.

A file of several sizes (FORMAT_OF_SIZES) has also board [G, 2] int32, the rows and columns of each game; S is then the
number of all visits, and visits [S] uint16: each search has as many as its board has actions.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from compiled import call, compiled
from config import UserError, has_range
from game import PLAYER, Game
from games.own import digest
from games.returned_values import check_rules, is_over, legal_moves, make_bounds
from games.sizes import families, family, others, sizes_of
from storage import game_files
from storage.atomic_files import replacing
from storage.game_record import ILLEGAL_VISITS, GameArrays, GameRecord
from storage.run_folders import SHIPPED, read_config
from storage.run_store import Store
from storage.sizes_played import SizesPlayed
from storage.untrusted_npz import BadArrays, read_arrays
from system.reading import read_limited

FORMAT, FORMAT_OF_SIZES = 1, 2
LIMIT = 2 << 30
"""Largest size of a file in bytes: it is read at once."""
_TEXT = 2048
_HEAD = {"head": ("<i8", (4,)), "about": ("|u1", (_TEXT,))}
NO_VERSION = -1
"""Version number of games that no network of this run played."""
_MOST_VISITS = int(ILLEGAL_VISITS) - 1
_FAULTS = ("", "is illegal", "is made after the game is over", "has visits of illegal moves", "has no fitting visits")


class Exchanged(NamedTuple):
    """The result of an import."""

    taken: int
    known: int
    """Games that were in the run already, or twice in the file."""
    refused: list[str]
    """One line for each game that is wrong."""
    iteration: int
    """The first iteration that trains on them."""
    left_out: int = 0
    """Games on boards that the run does not learn."""


@compiled
def replay(rules, row, legal, outcome, moves, visits, full, bounds):
    """Replay a game; return (a number of _FAULTS, ply), or (0, 1 or 0: whether it is over). row is changed.

    outcome[0] is then the game's value for the player to move.
    """
    searched = 0
    for ply in range(moves.shape[0]):
        if is_over(rules, row, outcome, bounds):
            return 2, ply
        count = legal_moves(rules, row, legal, bounds)
        known, inside = False, 0
        for i in range(count):
            known = known or legal[i] == moves[ply]
            if full[ply]:
                inside += visits[searched, legal[i]]
        if not known:
            return 1, ply
        if full[ply]:
            total = 0
            for a in range(visits.shape[1]):
                total += visits[searched, a]
            if total != inside:
                return 3, ply
            if total == 0 or total > _MOST_VISITS:
                return 4, ply
            searched += 1
        rules.play(row, moves[ply])
    return 0, np.int64(is_over(rules, row, outcome, bounds))


def fault(game: Game, record: GameRecord) -> str:
    """Return what is wrong with a game by the rules, "" when nothing is."""
    if game.rules is None or game.start_row is None:
        raise TypeError(f"{game.name} has no rules")
    length = len(record.moves)
    if not 1 <= length <= game.max_plies:
        return f"has {length} moves, expected 1 to {game.max_plies}"
    if record.visits.any() and record.visits.shape[1] != game.action_size:
        return f"has visits of {record.visits.shape[1]} moves, expected {game.action_size}"
    if len(record.values) != length:
        return f"has {len(record.values)} values, expected {length}"
    if not (np.isfinite(record.values).all() and (np.abs(record.values) <= 1.0).all()):
        return "has values that are not between -1 and 1"
    row, outcome = game.start_row.copy(), np.zeros(1, np.float32)
    moves, full, visits, _ = record.to_arrays()
    visits = visits.reshape(-1, game.action_size)
    legal, bounds = np.zeros(game.action_size, np.int32), make_bounds(game)
    number, ply = call(replay, game.rules, row, legal, outcome, moves, visits, full, bounds)
    check_rules(game, bounds)
    if number:
        return f"move {ply + 1} {_FAULTS[number]}"
    if not ply:
        return "is not over after its last move"
    right = float(outcome[0]) * (1 if row[PLAYER] == 1 else -1)
    return "" if abs(right - record.result) < 1e-6 else f"has the result {record.result:g}, by the rules {right:g}"


def content_of(record: GameRecord) -> bytes:
    """Return a digest of a game's content, without its number."""
    data = b"".join(part.tobytes() for part in record.to_arrays())
    result = np.float32(record.result + 0.0).tobytes()  # -0.0 is 0.0
    return hashlib.sha256(len(record.moves).to_bytes(4, "little") + data + result).digest()


# ---- out


def export_games(folder: Path, game: Game, path: Path, *, count: int = 0) -> int:
    """Write the newest `count` games of a run, by default all of its memory's window; return their number.

    Of a run of several sizes, with one size as `game` those on its board.
    """
    store = Store(folder / "run.db", read_only=True)
    try:
        window = read_config(folder).memory_size if not count else 1 << 62
        found = [pair for pair in store.games(window) if game.sizes or pair[1].board in ("", game.spec)]
        about = {"game": game.spec, "rules": digest(game), "run": store.get("run") or ""}
    finally:
        store.close()
    found = found[-count:] if count else found
    if not found:
        none = "a player that ships has none" if folder.is_relative_to(SHIPPED) else "there are none yet"
        raise UserError(f"expected games in {folder.name}, {none}")
    with replacing(path) as trial:
        trial.write_bytes(games_to_bytes(game, about, found))
    return len(found)


def games_to_bytes(game: Game, about: dict[str, str], found: list[tuple[int, GameRecord]]) -> bytes:
    """Return the bytes of a file with these (iteration, game) pairs."""
    records = [record for _, record in found]
    arrays = [record.to_arrays() for record in records]
    columns = {
        "result": np.array([r.result for r in records], "<f4"),
        "length": np.array([len(r.moves) for r in records], "<i4"),
        "iteration": np.array([iteration for iteration, _ in found], "<i4"),
        "index": np.array([r.index for r in records], "<i4"),
        "moves": np.concatenate([a.moves for a in arrays]),
        "values": np.concatenate([a.values for a in arrays]),
        "full": np.concatenate([a.full for a in arrays]).astype("|u1"),
    }
    if game.sizes:
        boards = SizesPlayed(game, ())
        columns["board"] = np.array([boards.named(r.board).grid_shape for r in records], "<i4")
        columns["visits"] = np.concatenate([a.visits.ravel() for a in arrays])
    else:
        columns["visits"] = np.concatenate([a.visits.reshape(-1, game.action_size) for a in arrays])
    text = json.dumps(about).encode().ljust(_TEXT)
    if len(text) > _TEXT:
        raise UserError(f"expected a game and a run of short names, got {len(text)} characters")
    form = FORMAT_OF_SIZES if game.sizes else FORMAT
    head = np.array([form, len(records), len(columns["moves"]), len(columns["visits"])], "<i8")
    buffer = io.BytesIO()
    np.savez(buffer, head=head, about=np.frombuffer(text, "|u1"), **columns)  # type: ignore[arg-type]
    return buffer.getvalue()


# ---- in


def games_from_bytes(data: bytes, game: Game, source: str = "the file") -> tuple[dict[str, Any], Iterator[GameRecord]]:
    """Return (about, games) of a file of this game; games are made one at a time and are not yet checked.

    Of a range of sizes each has its `board`; those on other boards are left out; about["left_out"] is their number, if
    there are any.
    Raises `UserError` unless the file has this form and every number in it is possible.
    """
    try:
        head = read_arrays(data, _HEAD, only=False)
        form, count, plies, searches = (int(n) for n in head["head"])
        right = form in (FORMAT, FORMAT_OF_SIZES) and 0 < count <= plies and 0 <= searches
        if not right or plies > len(data) or (form == FORMAT and searches > plies):
            known = f"{FORMAT} or {FORMAT_OF_SIZES}"
            raise BadArrays(f"expected format {known} and numbers of games and moves, got {head['head'].tolist()}")
        about = _about(bytes(head["about"]))
        _same_game(about, game)
        if form == FORMAT_OF_SIZES:
            return _several(data, about, game, count, plies, searches)
        mine = [each for each in sizes_of(game) if about["game"] == each.spec]  # in a range of sizes, one of them
        board = mine[0].spec if mine and game.sizes else ""
        game = mine[0] if mine else sizes_of(game)[-1]
        if plies > count * game.max_plies:
            raise BadArrays(f"expected games of at most {game.max_plies} moves, got {plies} in {count}")
        spec: dict[str, Any] = {
            **_HEAD, "result": ("<f4", (count,)), "length": ("<i4", (count,)), "iteration": ("<i4", (count,)),
            "index": ("<i4", (count,)), "moves": ("<i2", (plies,)), "values": ("<f4", (plies,)),
            "full": ("|u1", (plies,)), "visits": ("<u2", (searches, game.action_size)),
        }  # fmt: skip
        columns = read_arrays(data, spec)
        length, full = columns["length"].astype(np.int64), columns["full"]
        if (length < 1).any() or length.sum() != plies or full.max(initial=0) > 1 or full.sum() != searches:
            raise BadArrays("expected games whose lengths and searches add up to the whole, got others")
    except BadArrays as error:
        raise UserError(f"{source}: no file of games: {error}") from None
    actions = np.full(count, game.action_size)
    return about, _split(columns, length, full.astype(bool), actions, [board] * count)


def _several(
    data: bytes, about: dict[str, Any], game: Game, count: int, plies: int, visits: int
) -> tuple[dict[str, Any], Iterator[GameRecord]]:
    """Return (about, games) of a file of several sizes."""
    columns = read_arrays(data, {
        **_HEAD, "result": ("<f4", (count,)), "length": ("<i4", (count,)), "iteration": ("<i4", (count,)),
        "index": ("<i4", (count,)), "moves": ("<i2", (plies,)), "values": ("<f4", (plies,)), "full": ("|u1", (plies,)),
        "board": ("<i4", (count, 2)), "visits": ("<u2", (visits,)),
    })
    length, full, board = columns["length"].astype(np.int64), columns["full"], columns["board"].astype(np.int64)
    if (length < 1).any() or length.sum() != plies or full.max(initial=0) > 1 or not (
        0 < board.min() <= board.max() < 256
    ):
        raise BadArrays("expected games whose lengths add up to the whole, and boards, got others")
    points = board[:, 1] if game.policy_layout == "columns" else board.prod(axis=1)
    actions = points + others(sizes_of(game)[-1])
    searches = np.add.reduceat(full.astype(np.int64), np.cumsum(length) - length)
    if (actions * searches).sum() != visits:
        raise BadArrays("expected searches whose visits add up to the whole, got others")
    known = {each.grid_shape: each.spec for each in sizes_of(game)}
    names = [known.get((rows, columns)) for rows, columns in board.tolist()]
    if None in names:
        about["left_out"] = names.count(None)
    named: list[str | None] = [name if name is None or game.sizes else "" for name in names]
    return about, _split(columns, length, full.astype(bool), actions, named)


def _about(text: bytes) -> dict[str, Any]:
    try:
        about = json.loads(text)
        about = {name: about[name] for name in ("game", "rules", "run")}
        if not all(isinstance(text, str) for text in about.values()):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadArrays("expected game, rules and run in `about`, got something else") from None
    return about


def _same_game(about: dict[str, Any], game: Game) -> None:
    """Raise if a file is of another game; a custom game is known by its rules, wherever its file lies.

    A range of sizes and another one, or a size, of the same rules are one game.
    """
    mine, name = digest(game), about["game"]
    if has_range(name):
        same = family(name) in ([family(game.spec)] if game.sizes else families(game))
    else:
        same = name in [each.spec for each in sizes_of(game)]
    if about["rules"] != mine or (not mine and not same):
        raise BadArrays(f"expected games of {game.spec}, got those of {ascii(about['game'][:60])}")


def _split(
    columns: dict[str, np.ndarray], length: np.ndarray, full: np.ndarray, actions: np.ndarray, boards: list[str | None]
) -> Iterator[GameRecord]:
    """Yield the games that have a board. actions: of each game's board; boards: its name, "" for the only one."""
    begin, seen, numbers = 0, 0, columns["visits"].ravel()
    for i, board in enumerate(boards):
        end = begin + int(length[i])
        searched = full[begin:end]
        count = int(searched.sum()) * int(actions[i])
        visits = numbers[seen : seen + count].reshape(-1, int(actions[i]))
        if board is not None:
            arrays = GameArrays(columns["moves"][begin:end], searched, visits, columns["values"][begin:end])
            yield GameRecord.from_arrays(i, float(columns["result"][i]), arrays)._replace(board=board)
        begin, seen = end, seen + count


def read_games(path: Path) -> bytes:
    """Return the bytes of a file of games; raise `UserError` when it is no regular file of a sensible size."""
    if path.suffix.lower() in (*game_files.READ, game_files.LINES):
        raise UserError(f"expected a file of export-games: the moves of {path.suffix} hold no searches to learn from")
    try:
        if not path.is_file():
            found = f"{path} is none" if path.exists() else f"there is no file {path}"
            raise UserError(f"expected a file of games, {found}")
        size = path.stat().st_size
        if size > LIMIT:
            raise UserError(f"{path}: expected at most {LIMIT:,} bytes, got {size:,}")
        return read_limited(path, LIMIT)
    except (OSError, ValueError) as error:
        raise UserError(f"expected a file of games, got {str(path)[:100]!r} ({type(error).__name__})") from None
