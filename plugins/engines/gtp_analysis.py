"""Analysis over GTP: lz-analyze in whole numbers of 1/10,000, kata-analyze in decimals; also while a move is chosen.

One line is written at each interval, until the next command comes: `info move D4 visits 10 winrate 0.5123 ...` for
each move. Values are for the player to move. A score is given for Go where the network has an ownership head, or with
`ownership true`, for which games are played out (territory.py).
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, NamedTuple

from config import UserError
from game import GameState
from plugins.engines import vertices
from plugins.engines.command_lines import Failure
from plugins.engines.gtp_session import Do, Session
from plugins.engines.snapshot import MoveInfo, Snapshot
from plugins.engines.thinking import Choice

if TYPE_CHECKING:
    import numpy as np

USUAL = 1.0
"""Seconds between two lines."""
FLAGS = ("ownership", "movesOwnership", "pvVisits", "rootInfo")
LIMITS = ("avoid", "allow")
_POINTS = "a colour, points such as D4,E5 and a number of plies"
_FORMS = {"interval": "a number", "maxmoves": "a number", "minmoves": "a number", "avoid": _POINTS, "allow": _POINTS}
_LOGGER = logging.getLogger("alphazero.engines")


class Wanted(NamedTuple):
    """What an analysis is to write."""

    player: int
    every: float
    moves: int
    flags: frozenset[str]
    limits: list[tuple[str, int, str, str]]
    """(avoid or allow, player, points, until which ply)"""


def _wanted(session: Session, words: list[str]) -> Wanted:
    """Return what the arguments say: [colour] [interval] {keyword value}, in hundredths of a second.

    Keywords that are not known, with the words after them, are passed over with a line in the log.
    """
    words, player, every = list(words), session.position.to_move, USUAL
    if words and words[0].lower() in vertices.COLOURS:
        player = vertices.COLOURS[words.pop(0).lower()]
    if words and words[0].isdecimal():
        every = _hundredths(words.pop(0))
    counts, flags, limits = {"maxmoves": 10_000, "minmoves": 0}, set(), []
    while words:
        key, value = words[0], words[1] if len(words) > 1 else ""
        count = 2
        if key == "interval" and value.isdecimal():
            every = _hundredths(value)
        elif key in counts and value.isdecimal() and len(value) < 7:
            counts[key] = int(value)
        elif key in FLAGS and value.lower() in ("true", "false"):
            flags.add(key if value.lower() == "true" else "")
        elif key in LIMITS and value.lower() in vertices.COLOURS and len(words) > 3 and words[3].isdecimal():
            limits.append((key, vertices.COLOURS[value.lower()], words[2], words[3]))
            count = 4
        elif key in ("interval", *counts, *FLAGS, *LIMITS):
            raise Failure(f"syntax error: expected {_FORMS.get(key, 'true or false')} after {key}")
        else:
            known = (n for n, word in enumerate(words) if word in ("interval", *counts, *FLAGS, *LIMITS))
            count = next(known, len(words))
            _LOGGER.warning("passed over, as it is not known here: %s", " ".join(words[:count])[:80])
        words = words[count:]
    return Wanted(player, every, max(counts["maxmoves"], counts["minmoves"], 1), frozenset(flags - {""}), limits)


def _allowed(session: Session, state: GameState, wanted: Wanted) -> frozenset[int] | None:
    """Return the first moves that `avoid` and `allow` leave; None if they say nothing of the player to move."""
    legal = left = frozenset(state.allowedActions)
    for key, player, points, until in wanted.limits:
        if until != "1":
            _LOGGER.warning("%s: moves are left out at the first ply only, as with 1 at the end, got %s", key, until)
        if player == state.playerTurn:
            try:
                named = {vertices.action(session.game, state, point) for point in points.split(",") if point}
            except UserError as error:
                raise Failure(f"{key}: {str(error).splitlines()[0]}") from None
            left = left & named if key == "allow" else left - named
    if not left:
        raise Failure("avoid and allow leave no legal move")
    return None if left == legal else left


def _hundredths(word: str) -> float:
    if len(word) > 6 or int(word) < 1:
        raise Failure("expected an interval from 1 to 999999 hundredths of a second")
    return int(word) / 100


def _analyse(session: Session, words: list[str], *, kata: bool, chooses: bool) -> str:
    wanted = _wanted(session, words)
    state = session.position.turned_to(wanted.player)
    seconds = session.budget(wanted.player) if chooses else math.inf
    allowed = _allowed(session, state, wanted)
    player, program = session.thinker.player, session.program

    def show(found: Snapshot) -> None:
        program.stream()
        program.say(_line(session, state, found, wanted, kata=kata) + "\n")

    def stopped() -> bool:
        return program.interrupted() or (program.waiting() and not chooses)

    shows = session.thinker.shows
    if not shows and (allowed is not None or not chooses):
        raise Failure(f"{player.name} has no search to show")
    program.stream()
    if not chooses:
        session.thinker.analyse(state, show, every=wanted.every, stop=stopped, allowed=allowed)
        return ""
    if not shows or (allowed is None and session.thinker.reply(state) is not None):  # the move comes without a search
        return f"play {session.played(wanted.player, session.choose(state, seconds))}"
    visits, seconds = session.thinker.budget(seconds)
    session.thinker.analyse(
        state, show, every=wanted.every, stop=stopped, seconds=seconds, visits=visits, ends=True, allowed=allowed
    )
    choice = session.choose(state, 0.0) if allowed is None else None
    found = session.thinker.snapshot()
    if found is not None:
        show(found)
    if choice is None and allowed is not None:
        choice = Choice(found.moves[0].action if found is not None else min(allowed), None)
        session.thinker.forget()  # the next search has all moves
    return f"play {session.played(wanted.player, choice or Choice(None, None))}"


def _line(session: Session, state: GameState, found: Snapshot, wanted: Wanted, *, kata: bool) -> str:
    """Return the line of a search's result."""
    game, moves = session.game, found.moves[: wanted.moves]
    names = vertices.NameLine(game, state)
    if not kata:
        return " ".join(_leela(names, order, move) for order, move in enumerate(moves))
    territory, lead, owned = session.territory(), None, None
    after: list[np.ndarray] = []
    if territory is not None and (territory.by_network or wanted.flags & {"ownership", "movesOwnership"}):
        owned, after = territory.after(state, found)
        lead = territory.score(owned, state) * found.player
    parts = []
    for order, move in enumerate(moves):
        score = None
        if territory is not None and order < len(after):
            score = territory.score(after[order], state) * found.player
        part = _kata(names, order, move, score, "pvVisits" in wanted.flags)
        if "movesOwnership" in wanted.flags and order < len(after):
            part += f" movesOwnership {_board(after[order] * found.player)}"
        parts.append(part)
    if "rootInfo" in wanted.flags:
        known = f" scoreLead {lead:.4f}" if lead is not None else ""
        parts.append(f"rootInfo winrate {found.winrate:.6f} visits {found.visits}{known}")
    if owned is not None and "ownership" in wanted.flags:
        parts.append(f"ownership {_board(owned * found.player)}")
    return " ".join(parts)


def _leela(names: vertices.NameLine, order: int, move: MoveInfo) -> str:
    winrate, prior, lcb = (round(10_000 * value) for value in (move.winrate, move.prior, move.lcb))
    return (
        f"info move {names(move.line[:1])} visits {move.visits} winrate {winrate} prior {prior} lcb {lcb} "
        f"order {order} pv {names(move.line)}"
    )


def _kata(names: vertices.NameLine, order: int, move: MoveInfo, score: float | None, counts: bool) -> str:
    known = f" scoreMean {score:.4f} scoreLead {score:.4f}" if score is not None else ""
    pv = names(move.line) + (f" pvVisits {' '.join(map(str, move.line_visits))}" if counts else "")
    return (
        f"info move {names(move.line[:1])} visits {move.visits} winrate {move.winrate:.6f}{known} "
        f"prior {move.prior:.6f} lcb {move.lcb:.6f} order {order} pv {pv}"
    )


def _board(owned: np.ndarray) -> str:
    return " ".join(f"{value:.4f}" for value in owned.ravel())


def _command(*, kata: bool, chooses: bool) -> Do:
    return lambda session, words: _analyse(session, words, kata=kata, chooses=chooses)


COMMANDS: dict[str, Do] = {
    "lz-analyze": _command(kata=False, chooses=False),
    "kata-analyze": _command(kata=True, chooses=False),
    "genmove_analyze": _command(kata=False, chooses=True),
    "lz-genmove_analyze": _command(kata=False, chooses=True),
    "kata-genmove_analyze": _command(kata=True, chooses=True),
}
