"""One turn of a Little-Go program for a course's host: the position is a file, and so is the move.

The program is started again for each move. `input.txt`: its colour (1 Black, 2 White), five lines with the board after
its own last move, five with the board now, one digit per point, the top row first. `output.txt`: `i,j` or `PASS`. The
file does not contain the number of moves played, but the game ends after 24: a step file stores it from move to move.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent import Player
from config import UserError
from game import GameState
from games.chains import colours
from games.littlego import PASS, PLIES, LittleGo
from players.by_name import make_player
from storage.atomic_files import open_regular, write_file


class Given(NamedTuple):
    """The host's input."""

    player: int
    """1 Black, -1 White."""
    before: np.ndarray
    """[5, 5] in {1, -1, 0}: the board before the other's last move."""
    board: np.ndarray
    """[5, 5]: the board now."""


class Turn(NamedTuple):
    """The move that was played."""

    action: int
    ply: int
    """Moves played before this one."""
    by: str
    """Name of the player, or the reason for which another player's move was taken."""
    late: bool
    """The player has not finished and is still searching in its thread."""


Load = Callable[[float], tuple[Player, str]]
"""seconds to think -> (the player, a message about its choice)."""
LOADING = 0.7
"""Fraction of the time after which rollouts search if the player is not loaded yet."""


def take_turn(
    source: Path, target: Path, step_file: Path, load: Load, seconds: Callable[[int], float], seed: int = 0
) -> Turn:
    """Read the position, search, write the move; raise `UserError` with nothing written.

    `seconds` is the time to load the player and to search, by the number of the move, counted from 1.

    A search is cut short in time, and its best move so far is played. If the player is not loaded in time, fails or
    chooses an illegal move, rollouts choose; if they find none, `greedy`. So the move is always legal.
    """
    game, given = LittleGo(), read_given(source)
    ply = find_ply(given, _text(step_file))
    state = game.position(given.before, given.board, given.player, ply)
    action, by, late = _in_time(load, state, seconds(ply + 1), seed)
    if action not in state.allowedActions:
        action = greedy(state)
    after = state.takeAction(action)[0]
    write_file(target, b"PASS" if action == PASS else b"%d,%d" % divmod(action, 5))
    try:
        write_file(step_file, f"{ply + 1} {_digits(colours(game.row_of(after)))}\n".encode())
    except OSError as error:
        by += f"; the step file {step_file} was not written: {error.strerror}"
    return Turn(action, ply, by, late)


def read_given(path: Path) -> Given:
    """Return the position in a file; raise `UserError` naming its fault."""
    try:
        with open_regular(path) as file:
            lines = file.read(10_000).decode("ascii").rstrip().splitlines()
    except FileNotFoundError:
        raise UserError(f"expected a position, there is no file {path}") from None
    except OSError as error:
        raise UserError(f"expected a position in {path}, it cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"expected a position in {path}, got no text") from None
    if len(lines) != 11:
        raise UserError(f"{path}: expected 11 lines, the colour and two boards of 5, got {len(lines)}")
    for number, line in enumerate(lines, 1):
        if not re.fullmatch("[12]" if number == 1 else "[012]{5}", line.strip()):
            form = "1 or 2" if number == 1 else "5 digits out of 0, 1, 2"
            raise UserError(f"{path}: expected {form} in line {number}, got {line[:40]!r}")
    stones = {"0": 0, "1": 1, "2": -1}
    boards = np.array([[stones[digit] for digit in line.strip()] for line in lines[1:]])
    return Given(stones[lines[0].strip()], boards[:5], boards[5:])


def find_ply(given: Given, step: str) -> int:
    """Return the number of moves played: from the step file if it fits the boards, else the smallest possible.

    The step file holds the number of moves up to this program's own last one, included, and the board after it.
    """
    player, before, board = given
    first = 0 if player == 1 else 1
    if not before.any() and (board == player).sum() == 0 and np.count_nonzero(board) <= first:
        return first
    possible = range(first, PLIES, 2)
    enough = [
        ply
        for ply in possible
        if max((board == 1).sum() * 2 - 1, (board == -1).sum() * 2) <= ply
        and max((before == 1).sum() * 2, (before == -1).sum() * 2 + 1) <= ply
    ]
    least = enough[0] if enough else possible[-1]
    match = re.fullmatch(r"([0-9]{1,2}) ([012]{25})\s*", step)
    if match and match[2] == _digits(before) and int(match[1]) + 1 in enough:
        return int(match[1]) + 1
    return least


def greedy(state: GameState) -> int:
    """Return the move with the best difference of stones, nearest to the centre; a pass if there is no other."""

    def worth(action: int) -> tuple[float, int]:
        other, mine = state.takeAction(action)[0].score
        i, j = divmod(action, 5)
        return mine - other, -abs(i - 2) - abs(j - 2)

    return max(list(state.allowedActions)[:-1] or [PASS], key=worth)


def read_clock(words: Sequence[str]) -> list[tuple[int, float]]:
    """Return [(number of a move, seconds for it and those after it)] from words such as "8", or "1 7:9.5 21:3"."""
    clock: list[tuple[int, float]] = []
    for word in words:
        match = re.fullmatch(r"(?:([0-9]{1,3}):)?([0-9]{1,4}(?:\.[0-9]{1,3})?)", word)
        if not match or not 0.1 <= float(match[2]) <= 3600:
            wanted = "a number from 0.1 to 3,600, or several such as 1 7:9.5 21:3"
            raise UserError(f"seconds: expected {wanted}, got {word[:60]!r}")
        clock.append((int(match[1] or 1), float(match[2])))
    numbers = [number for number, _ in clock]
    if numbers[:1] != [1] or numbers != sorted(set(numbers)):
        wanted = "times for the first move and for later ones in turn, such as 1 7:9.5 21:3"
        raise UserError(f"seconds: expected {wanted}, got {' '.join(words)[:60]!r}")
    return clock


def time_for(clock: Sequence[tuple[int, float]], move: int) -> float:
    """Return the seconds for a move by its number.

    >>> time_for([(1, 1.0), (7, 9.5)], 6), time_for([(1, 1.0), (7, 9.5)], 7)
    (1.0, 9.5)
    """
    return next(seconds for first, seconds in reversed(clock) if first <= move)


def loader(name: str, *, sims: int) -> Load:
    """Return the loader of the player with a name; raise `UserError` for one that needs a complete game or a person.

    An empty name is the best network, else the one that ships, else rollouts, else random moves.
    """
    if name.strip().lower().startswith(("gtp:", "human", "-1")):
        raise UserError(f"player: expected one that plays a single position, got {name[:60]!r}")

    def load(seconds: float) -> tuple[Player, str]:
        named = [name] if name else ["best", "shipped", f"rollout:{math.ceil(seconds)}s", "random"]
        reason = ""
        for each in named[:-1]:
            try:
                player = make_player(each, LittleGo(), sims=sims)
                return player, player.name + reason
            except UserError as error:
                reason = reason or f" ({str(error).splitlines()[0]})"
        player = make_player(named[-1], LittleGo(), sims=sims)
        return player, player.name + reason

    return load


def _choice(player: Player, state: GameState, seed: int) -> int:
    player.new_games(1)
    player.new_game(0, seed)
    return int(player.act_many([0], [state], [0.0])[0].action)


def _in_time(load: Load, state: GameState, seconds: float, seed: int) -> tuple[int, str, bool]:
    """Search in threads that are abandoned after `seconds`; return (move or -1, name or reason, late)."""
    if seconds <= 0:
        return -1, "no time was left to think: the first start after a change compiles the rules", False
    last = time.monotonic() + seconds
    end, loaded, answered = last - max(0.05 * seconds, 0.1), threading.Event(), threading.Event()
    found: list[tuple[int, str] | Exception] = []
    rolled: list[int] = []

    def think() -> None:
        try:
            player, message = load(seconds)
            player.deadline = end
            loaded.set()
            action = _choice(player, state, seed)
            if action not in state.allowedActions:
                raise ValueError(f"the illegal move {action}")
            found.append((action, message))
            answered.set()
        except Exception as error:
            found.append(error)
        loaded.set()

    def roll() -> None:
        from players.rollout import RolloutPlayer

        with suppress(Exception):  # the reason given is the player's own failure
            player = RolloutPlayer(LittleGo(), seconds=seconds)
            player.deadline, player.stopped = end, answered.is_set
            rolled.append(_choice(player, state, seed))

    player, reserve = threading.Thread(target=think, daemon=True), threading.Thread(target=roll, daemon=True)
    player.start()
    if not loaded.wait(LOADING * seconds):
        reserve.start()
    player.join(max(last - time.monotonic(), 0.0))
    message = f"no answer within {seconds:.1f} s"
    answer = found[0] if found else None
    if isinstance(answer, UserError):
        answered.set()
        raise answer
    if isinstance(answer, Exception):
        message = f"the player failed: {type(answer).__name__}: {answer}"
        if reserve.ident is None:
            reserve.start()
    if reserve.ident is not None:
        reserve.join(max(last - time.monotonic(), 0.0))  # no wait if the player has answered
    late = player.is_alive() or reserve.is_alive()
    if isinstance(answer, tuple):
        return *answer, late
    return (rolled[0], f"rollouts: {message}", late) if rolled else (-1, message, late)


def _digits(board: np.ndarray) -> str:
    return "".join("012"[int(stone)] for stone in board.ravel())  # -1 is the last character: 2


def _text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return file.read(100).decode("ascii", "replace")
    except OSError:
        return ""
