"""Opening books: a text file of positions with the reply to each, the tool that makes one, and players that use it.

The file is JSON: the game, the player that found the replies, and for each position the line of moves that leads to it
with the reply, in the names that people type. A position stands for all its turned or mirrored forms. A book may come
from anybody: while reading it, every move is checked by the rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import games
from agent import Player
from config import UserError
from game import Game, GameState
from games.own import lies_elsewhere
from MCTS import Decision
from storage.atomic_files import write_file
from system.reading import open_regular

BOOKS = Path(__file__).parent / "books"
LIMIT = 1_000_000
"""Largest size of a file, in bytes."""
MAX_POSITIONS = 20_000
"""Most positions of a book, before turning and mirroring."""


class Book:
    """Replies by position, for one game."""

    def __init__(self, game: Game, player: str) -> None:
        """Make an empty book for replies found by a player of this name."""
        self.game, self.player = game, player
        self.lines: dict[tuple[int, ...], int] = {}
        """{moves from the start: reply}, one line for each position up to symmetry."""
        self._replies: dict[Hashable, int] = {}
        forms = [np.arange(game.action_size), *(np.argsort(s.actions) for s in game.symmetries)]
        self._forms = [form.tolist() for form in forms]
        """[old action] -> action on the turned or mirrored board"""

    def __len__(self) -> int:
        return len(self.lines)

    def __contains__(self, state: GameState) -> bool:
        return state.id in self._replies

    def reply(self, state: GameState) -> int | None:
        """Return the move for a position, None when it is not in the book."""
        return self._replies.get(state.id)

    def add(self, line: Sequence[int], action: int) -> None:
        """Add the reply to the position after a line of moves; raise `UserError` when a move is not legal."""
        found: dict[Hashable, int] = {}
        for form in self._forms:
            state = after_line(self.game, [form[a] for a in line])
            if form[action] not in state.allowedActions:
                state.takeAction(form[action])
            found.setdefault(state.id, form[action])
        self.lines[tuple(line)] = action
        for position, reply in found.items():
            self._replies.setdefault(position, reply)

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        name = self.game.move_name
        positions = {" ".join(map(name, line)): name(action) for line, action in self.lines.items()}
        values = {"game": self.game.spec, "player": self.player, "positions": positions}
        return (json.dumps(values, indent=0) + "\n").encode()


def after_line(game: Game, line: Sequence[int]) -> GameState:
    """Return the position after a line of moves; raise `UserError` when one is not legal."""
    state = game.start()
    for action in line:
        state = state.takeAction(action)[0]
    return state


def load_book(path: Path, game: Game) -> Book:
    """Read a book of a game; raise `UserError` with the file's name and the fault."""
    try:
        if not path.is_file():
            raise UserError("expected a file with an opening book, there is none")
        with open_regular(path) as file:
            data = file.read(LIMIT + 1)
        return _from_bytes(data, game)
    except UserError as error:
        raise UserError(f"{path}: {str(error).splitlines()[0]}") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def _from_bytes(data: bytes, game: Game) -> Book:
    if len(data) > LIMIT:
        raise UserError(f"expected at most {LIMIT:,} bytes, got a larger file")
    try:
        values = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise UserError("expected an opening book in JSON, as `python main.py book` writes it") from None
    good = isinstance(values, dict) and set(values) == {"game", "player", "positions"}
    if not good or not all(isinstance(values[key], str) for key in ("game", "player")):
        raise UserError("expected game, player and positions in JSON, as `python main.py book` writes it")
    if len(named := values["game"]) > 1000:
        raise UserError(f"expected the name of a game, got one of {len(named):,} characters")
    if named != game.spec and not lies_elsewhere(named, game) and games.make(named, typed=False).spec != game.spec:
        raise UserError(f"expected a book of {game.spec}, got one of {values['game'][:60]}")
    positions = values["positions"]
    if not isinstance(positions, dict) or len(positions) > MAX_POSITIONS:
        raise UserError(f"positions: expected at most {MAX_POSITIONS:,}, each a line of moves with its reply")
    book = Book(game, values["player"][:100])
    for number, (line, reply) in enumerate(positions.items(), 1):
        try:
            if not isinstance(reply, str) or len(line) > 40 * game.max_plies:
                raise UserError("expected a line of moves and the name of one move")
            book.add([game.parse_move(word) for word in line.split()], game.parse_move(reply))
        except UserError as error:
            raise UserError(f"position {number}: {error}") from None
    return book


def find_book(game: Game, file: str | None) -> Book:
    """Return the book in a file, or the one shipped with the game."""
    if file is not None:
        return load_book(Path(file), game)
    path = BOOKS / f"{game.name}.json"
    if game.name not in games.names() or not path.is_file():
        raise UserError(f"there is no opening book for {game.spec}; `python main.py book` makes one for +book:FILE")
    return load_book(path, game)


# ---- making a book


def positions_to_know(book: Book, plies: int) -> Iterator[tuple[int, ...]]:
    """Yield the lines to positions that the book lacks, of those that arise within `plies` plies against any reply.

    The book's user plays its replies, as the first or as the second player, so a line ends where the book does: call it
    again after replies were added.
    """
    game, seen = book.game, set()
    for role in (1, -1):
        todo: list[tuple[int, ...]] = [()]
        for line in todo:
            state = after_line(game, line)
            if len(line) >= plies or state.isEndGame or (role, state.id) in seen:
                continue
            seen.add((role, state.id))
            if state.playerTurn != role:
                todo += [(*line, int(action)) for action in state.allowedActions]
            elif (reply := book.reply(state)) is not None:
                todo.append((*line, reply))
            else:
                yield line


def extend(
    book: Book, player: Player, plies: int, path: Path, *, seed: int = 0, report: Callable[[int], None] | None = None
) -> None:
    """Let a player find the replies that the book lacks; the file is written after each, so that nothing is lost.

    Raises `UserError` when the player resigns.
    """
    while missing := list(positions_to_know(book, plies)):
        for line in missing:
            state = after_line(book.game, line)
            if state in book:
                continue  # a turned or mirrored form was added
            if len(book) >= MAX_POSITIONS:
                raise UserError(f"{path}: expected at most {MAX_POSITIONS:,} positions; take fewer --plies")
            player.new_games(1)
            player.new_game(0, int(np.random.default_rng([seed, *line]).integers(2**31)))
            for action in line:
                player.observe(0, action)
            reply = player.act_many([0], [state], [0.0])[0].action
            if reply not in state.allowedActions:  # it resigned
                after = book.game.format_moves(line) or "the start"
                raise UserError(f"{path}: expected a move of {player.name} after {after}, it gave up; "
                                f"{len(book)} positions are kept, the same command resumes")  # fmt: skip
            book.add(line, reply)
            if len(content := book.to_bytes()) > LIMIT:
                raise UserError(f"{path}: expected at most {LIMIT:,} bytes; take fewer --plies")
            write_file(path, content)
            if report is not None:
                report(len(book))


# ---- using a book


class BookPlayer(Player):
    """Plays the book's reply if the position is in the book, else the move of another player."""

    def __init__(self, player: Player, book: Book, file: str | None = None) -> None:
        """Make a player; `file` is the book's path if it was not shipped with the game."""
        super().__init__(f"{player.name}+book{f':{Path(file).name}' if file else ''}", player.game)
        self.player, self.book = player, book
        self.at_once, self.is_person = player.at_once, player.is_person

    @property
    def deadline(self) -> float:
        return self.player.deadline

    @deadline.setter
    def deadline(self, end: float) -> None:
        self.player.deadline = end

    def new_games(self, slots: int) -> None:
        self.player.new_games(slots)

    def new_game(self, slot: int, seed: int) -> None:
        self.player.new_game(slot, seed)

    def observe(self, slot: int, action: int) -> None:
        self.player.observe(slot, action)

    def forfeit(self, slot: int) -> str:
        return self.player.forfeit(slot)

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        decisions: dict[int, Decision] = {}
        for slot, state in zip(slots, states, strict=True):
            if (action := self.book.reply(state)) is not None:
                decisions[slot] = Decision(action, self._only(action), 0.0)
        unknown: list[Any] = [job for job in zip(slots, states, taus, strict=True) if job[0] not in decisions]
        if unknown:
            found = self.player.act_many(*(list(part) for part in zip(*unknown, strict=True)))
            decisions.update(zip((job[0] for job in unknown), found, strict=True))
        return [decisions[slot] for slot in slots]

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Choose in the game of slot 0."""
        action, self.searched = self.book.reply(state), None
        if action is not None:
            return action, self._only(action), 0.0, 0.0
        answer = self.player.act(state, tau)
        self.searched = self.player.searched
        return answer

    def _only(self, action: int) -> np.ndarray:
        pi = np.zeros(self.game.action_size)
        pi[action] = 1.0
        return pi
