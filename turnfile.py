"""One turn of a Little-Go program as a course's host asks for it: the position is a file, and so is the answer.

The program is started anew for each move. `input.txt`: its colour (1 Black, 2 White), five lines with the board after
its own last move, five with the board now, a digit a point, the top row first. `output.txt`: `i,j` or `PASS`. How many
moves were played is not told, but the game ends after 24: a step file keeps it from move to move.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent import Player
from config import UserError
from files import write_file
from game import GameState
from games.chains import colours
from games.littlego import PASS, PLIES, LittleGo
from lineup import make_player, trained_config


class Given(NamedTuple):
    """What the host tells."""

    player: int
    """1 Black, -1 White."""
    before: np.ndarray
    """[5, 5] in {1, -1, 0}: the board before the other's last move."""
    board: np.ndarray
    """[5, 5]: the board now."""


class Turn(NamedTuple):
    """What was played."""

    action: int
    ply: int
    """Moves played before this one."""
    by: str
    """Name of the player, or the reason for which another move was found in its stead."""
    late: bool
    """The player has not come to an end and still thinks in its thread."""


Think = Callable[[GameState], tuple[int, str]]
"""Returns an action and the name of who chose it."""


def take_turn(source: Path, target: Path, step_file: Path, think: Think, seconds: float) -> Turn:
    """Read the position, think for so many seconds at most, write the move; raise `UserError` with nothing written.

    The move is legal whatever the player does: where it fails, is late or is wrong, the move of `greedy` is played.
    """
    game, given = LittleGo(), read_given(source)
    ply = find_ply(given, _text(step_file))
    state = game.position(given.before, given.board, given.player, ply)
    action, by, late = _in_time(think, state, seconds)
    if action not in state.allowedActions:
        action = greedy(state)
    after = state.takeAction(action)[0]
    write_file(target, b"PASS" if action == PASS else b"%d,%d" % divmod(action, 5))
    try:
        write_file(step_file, f"{ply + 1} {_digits(colours(game.row_of(after)))}\n".encode())
    except OSError as error:
        by += f"; the step file was not written: {error}"
    return Turn(action, ply, by, late)


def read_given(path: Path) -> Given:
    """Return the position in a file; raise `UserError` with what is wrong about it."""
    try:
        with path.open("rb") as file:
            lines = file.read(10_000).decode("ascii").rstrip().splitlines()
    except FileNotFoundError:
        raise UserError(f"expected a position, there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"expected a position in {path}, got {type(error).__name__}") from None
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
    """Return how many moves were played: from the step file where that fits the boards, else the fewest possible.

    The step file holds the moves played with one's own last one, and the board that it left.
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
    """Return the move that leaves one the most stones more than the other, nearest to the centre; a pass if it must."""

    def worth(action: int) -> tuple[float, int]:
        other, mine = state.takeAction(action)[0].score
        i, j = divmod(action, 5)
        return mine - other, -abs(i - 2) - abs(j - 2)

    return max(list(state.allowedActions)[:-1] or [PASS], key=worth)


def thinker(name: str, *, sims: int, seconds: float, seed: int) -> Think:
    """Return how the player of a name thinks; raise `UserError` for one that needs a whole game or a person.

    An empty name is the best network, else the one that ships, else rollouts, else chance.
    """
    if name.strip().lower().startswith(("gtp:", "human", "-1")):
        raise UserError(f"player: expected one that can be asked about a single position, got {name[:60]!r}")
    named = [name] if name else ["best", "shipped", f"rollout:{max(1, int(seconds / 2))}s", "random"]

    def think(state: GameState) -> tuple[int, str]:
        reason = ""
        for each in named:
            try:
                if each == "best":
                    trained_config(LittleGo())  # without loading what is slow, if only to find that there is no run
                player = make_player(each, LittleGo(), sims=sims)
                break
            except UserError as error:
                if each == named[-1]:
                    raise
                reason = reason or f" ({str(error).splitlines()[0]})"
        return _choice(player, state, seed), player.name + reason

    return think


def _choice(player: Player, state: GameState, seed: int) -> int:
    player.new_games(1)
    player.new_game(0, seed)
    return int(player.act_many([0], [state], [0.0])[0].action)


def _in_time(think: Think, state: GameState, seconds: float) -> tuple[int, str, bool]:
    """Think in a thread that nobody waits for longer than so many seconds; -1 stands for no move."""
    if seconds <= 0:
        return -1, "no time was left to think: the first start after a change compiles the rules", False
    found: list[tuple[int, str] | Exception] = []

    def work() -> None:
        try:
            found.append(think(state))
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        return -1, f"no answer within {seconds:.1f} s", True
    answer = found[0]
    if isinstance(answer, UserError):
        raise answer
    if isinstance(answer, Exception):
        return -1, f"the player failed: {type(answer).__name__}: {answer}", False
    action, by = answer
    if action not in state.allowedActions:
        return -1, f"{by} chose the illegal move {action}", False
    return action, by, False


def _digits(board: np.ndarray) -> str:
    return "".join("012"[int(stone)] for stone in board.ravel())  # -1 is the last: 2


def _text(path: Path) -> str:
    try:
        return path.read_bytes()[:100].decode("ascii", "replace")
    except OSError:
        return ""
