"""Analysis over GTP: lz-analyze in whole numbers of 1/10,000, kata-analyze in decimals; also while a move is chosen.

One line is written at each interval, until the next command comes: `info move D4 visits 10 winrate 0.5123 ...` for
each move. Values are for the player to move. A score is given for Go where the network has an ownership head, or with
`ownership true`, for which games are played out (territory.py).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from agent import Agent
from game import GameState
from plugins.engines import vertices
from plugins.engines.command_lines import Failure
from plugins.engines.gtp_session import Do, Session
from plugins.engines.snapshot import MoveInfo, Snapshot

if TYPE_CHECKING:
    import numpy as np

USUAL = 1.0
"""Seconds between two lines."""
FLAGS = ("ownership", "movesOwnership", "pvVisits", "rootInfo")


class Wanted(NamedTuple):
    """What an analysis is to write."""

    player: int
    every: float
    moves: int
    flags: frozenset[str]


def _wanted(session: Session, words: list[str]) -> Wanted:
    """Return what the arguments say: [colour] [interval] {keyword value}, in hundredths of a second."""
    words, player, every = list(words), session.position.to_move, USUAL
    if words and words[0].lower() in vertices.COLOURS:
        player = vertices.COLOURS[words.pop(0).lower()]
    if words and words[0].isdecimal():
        every = _hundredths(words.pop(0))
    counts, flags = {"maxmoves": 10_000, "minmoves": 0}, set()
    while words:
        key, value = words[0], words[1] if len(words) > 1 else ""
        if key == "interval" and value.isdecimal():
            every = _hundredths(value)
        elif key in counts and value.isdecimal() and len(value) < 7:
            counts[key] = int(value)
        elif key in FLAGS and value.lower() in ("true", "false"):
            flags.add(key if value.lower() == "true" else "")
        else:
            raise Failure(f"syntax error: expected interval, minmoves, maxmoves, {', '.join(FLAGS)}, got {key[:40]!r}")
        words = words[2:]
    return Wanted(player, every, max(counts["maxmoves"], counts["minmoves"], 1), frozenset(flags - {""}))


def _hundredths(word: str) -> float:
    if len(word) > 6 or int(word) < 1:
        raise Failure("expected an interval from 1 to 999999 hundredths of a second")
    return int(word) / 100


def _analyse(session: Session, words: list[str], *, kata: bool, chooses: bool) -> str:
    wanted = _wanted(session, words)
    state = session.position.turned_to(wanted.player)
    seconds = session.budget(wanted.player) if chooses else math.inf
    player, program = session.thinker.player, session.program

    def show(found: Snapshot) -> None:
        program.stream()
        program.say(_line(session, state, found, wanted, kata=kata) + "\n")

    def stopped() -> bool:
        return program.interrupted() or (program.waiting() and not chooses)

    if not session.thinker.shows:
        raise Failure(f"{player.name} has no search to show")
    program.stream()
    if not chooses:
        session.thinker.analyse(state, show, every=wanted.every, stop=stopped)
        return ""
    own = math.isinf(seconds)  # no clock: the player's own number of simulations
    visits = player.mcts_sims if own and isinstance(player, Agent) else None
    session.thinker.analyse(state, show, every=wanted.every, stop=stopped, seconds=seconds, visits=visits, ends=True)
    choice = session.choose(state, 0.0)
    found = session.thinker.snapshot()
    if found is not None:
        show(found)
    return f"play {session.played(wanted.player, choice)}"


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
        lead = territory.score(owned) * found.player
    parts = []
    for order, move in enumerate(moves):
        score = territory.score(after[order]) * found.player if territory is not None and order < len(after) else None
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
