"""One turn of a Little-Go program for a course's host: the position is a file, and so is the move.

The program is started again for each move. `input.txt`: its colour (1 Black, 2 White), five lines with the board after
its own last move, five with the board now, one digit per point, the top row first. `output.txt`: `i,j` or `PASS`. The
file does not contain the number of moves played, but the game ends after 24: a step file stores it from move to move.

Two processes keep the time. This one is small: it reads, waits until the time is over, checks and writes; it has a
legal move in plain Python from the beginning. All that may take long, loading, compiling and thinking, is in a second
one (process.py), started first.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from config import UserError
from plugins.littlego.rules import PASS, PLIES, Board, Given, after, breathes, legal, move_of_need
from system import files, processes
from system.reading import open_regular

_LOADED = time.monotonic()


class Turn(NamedTuple):
    """The move that was played."""

    action: int
    ply: int
    """Moves played before this one."""
    by: str
    """Name of the player, or the reason for which another player's move was taken."""


class Thinker(Protocol):
    """Thinks about one position, elsewhere."""

    def ask(self, task: dict[str, Any]) -> None:
        """Begin to think; see `littlego_thinker.think` for the task and the answers."""

    def answers(self, last: float) -> Iterator[dict[str, Any]]:
        """Yield the answers as they come, until `last` (of time.monotonic) or the thinker's end."""


def process_age() -> float:
    """Return the seconds since this process began, the start of Python included where the system reports it.

    A process that did other things before, as a notebook, counts from the import of this module.
    """
    since_import, age = time.monotonic() - _LOADED, processes.age()
    return age if age is not None and since_import <= age < since_import + 60.0 else since_import


def take_turn(
    source: Path, target: Path, step_file: Path, thinker: Thinker, seconds: Callable[[int], float], **how: Any
) -> Turn:
    """Read the position, let it be thought about, write the move; raise `UserError` with nothing written.

    seconds: the time left until this process must have ended, by the number of the move, counted from 1.
    how: the task's `player`, `sims` and `seed`.

    The search is cut short in time, and its best move so far is played. Where there is no answer in time, or an illegal
    one, the move of need is played. So the move is always legal.
    """
    given = read_given(source)
    ply = find_ply(given, _text(step_file))
    left = seconds(ply + 1)
    spare, last = max(0.05 * left, 0.1), time.monotonic() + left
    task = {**how, "player_to_move": given.player, "before": given.before, "board": given.board, "ply": ply}
    thinker.ask({**task, "end": last - 2 * spare})
    action, by = _choice(thinker, given, ply, last - spare)
    _write(target, "PASS" if action == PASS else "{},{}".format(*divmod(action, 5)))
    try:
        _write(step_file, f"{ply + 1} {_digits(after(given.board, action, given.player) or ())}\n")
    except (OSError, ValueError) as error:  # a name that no file can have
        by += f"; the step file {step_file} was not written: {getattr(error, 'strerror', 'no such name')}"
    return Turn(action, ply, by)


def _write(path: Path, text: str) -> None:
    """Replace a file, all at once but without waiting for the disk: on a busy machine that alone can take seconds."""
    trial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    file = open(trial, "x", encoding="ascii")  # noqa: SIM115  # a name that is taken, also by a link, is refused
    try:
        with file:
            file.write(text)
        files.replace(trial, path)
    finally:
        trial.unlink(missing_ok=True)


def _choice(thinker: Thinker, given: Given, ply: int, last: float) -> tuple[int, str]:
    """Return (move, by whom): the thinker's last answer until `last`, if it is legal."""
    action = move_of_need(given, ply)
    by, late = "move of need", f"no answer within {max(last - time.monotonic(), 0.0):.1f} s"
    for answer in thinker.answers(last):
        if "error" in answer:
            raise UserError(answer["error"])
        if answer["action"] not in legal(given):
            late = answer["by"]
            continue
        action, by, late = answer["action"], answer["by"], ""
        if answer["final"]:
            break
    return action, f"{by}: {late}" if late else by


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
    points = [stones[digit] for line in lines[1:] for digit in line.strip()]
    given = Given(stones[lines[0].strip()], tuple(points[:25]), tuple(points[25:]))
    if not breathes(given.board):
        raise UserError(f"{path}: expected a board on which every chain has a liberty")
    return given


def find_ply(given: Given, step: str) -> int:
    """Return the number of moves played: from the step file if it fits the boards, else the smallest possible.

    The step file holds the number of moves up to this program's own last one, included, and the board after it.
    """
    player, before, board = given
    first = 0 if player == 1 else 1
    if not any(before) and player not in board and 25 - board.count(0) <= first:
        return first
    possible = range(first, PLIES, 2)
    enough = [
        ply
        for ply in possible
        if max(board.count(1) * 2 - 1, board.count(-1) * 2) <= ply
        and max(before.count(1) * 2, before.count(-1) * 2 + 1) <= ply
    ]
    least = enough[0] if enough else possible[-1]
    match = re.fullmatch(r"([0-9]{1,2}) ([012]{25})\s*", step)
    if match and match[2] == _digits(before) and int(match[1]) + 1 in enough:
        return int(match[1]) + 1
    return least


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


def check_player(name: str) -> None:
    """Raise `UserError` for a player that needs a complete game or a person."""
    if name.strip().lower().startswith(("gtp:", "gomocup:", "human", "-1")):
        raise UserError(f"player: expected one that plays a single position, got {name[:60]!r}")


def _digits(board: Board) -> str:
    return "".join("012"[stone] for stone in board)  # -1 is the last character: 2


def _text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            return file.read(100).decode("ascii", "replace")
    except OSError:
        return ""
