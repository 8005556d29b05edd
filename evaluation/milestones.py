"""What the versions of a run have learned, by their policy alone, on positions made from the rules: milestones.

Each probe is a set of positions with the moves that are right there. Where a game is won by a move, they come from
uniformly random play: a win in one; one move that stops the other's win in one; a win in three. Where a solver knows
the values there are two more: the answers to each first move, and solved positions. A version has reached a milestone
when from it on every version is right in more than REACHED of a probe's positions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agent import Agent
from config import UserError
from evaluation.move_accuracy import choose_alone
from evaluation.openings import identity
from evaluation.solved_positions import Oracle, Solved, oracle, positions
from game import NOT_TOLD, CompiledState, Game, GameState
from games.plain import PlainGame
from languages.translate import tr
from players.by_name import make_player

REACHED = 0.9
COUNT = 60
"""Most positions of a probe."""
FEWEST = 8
"""A probe with fewer positions is left out, but for the answers to the first moves: they are all there are."""
TRIES = 60_000
"""Most moves tried to find the positions of a probe: seconds, whatever the game."""
LOOKED_AT = 40
"""Most versions of a run that are looked at."""
TEXTS = (
    "wins at once when it can", "stops the other's win in one", "finds a win in three",
    "answers each first move right", "keeps the value in solved positions",
)  # fmt: skip
WORDS = dict(zip(("win", "stop", "three", "reply", "solved"), TEXTS, strict=True))


class Probe(NamedTuple):
    """Positions of one kind."""

    kind: str
    """A key of WORDS."""
    positions: list[Solved]
    """A move is right if it is among `Solved.keeping`."""


class Milestone(NamedTuple):
    """The first version from which on a probe is passed."""

    version: int
    kind: str


# ---- probes


def probes(game: Game, *, seed: int = 0, report: Callable[[str], None] = lambda kind: None) -> list[Probe]:
    """Return the probes of a game that have enough positions; `report` is called with the kind before each search."""
    found = []
    for kind, right in (("win", winning_moves), ("stop", stopping_moves), ("three", wins_in_three)):
        report(kind)
        by_a_move = game.won_by_a_move or isinstance(game, PlainGame)  # of which it is not known
        drawn = list(_drawn(game, right, np.random.default_rng(seed))) if by_a_move else []
        found += [Probe(kind, drawn)] * (len(drawn) >= FEWEST)
    try:
        who = oracle(game)
    except UserError:  # its solver is not installed
        who = None
    if who is not None:
        report("reply")
        replies = _replies(game, who)
        found += [Probe("reply", replies)] if replies else []
        report("solved")
        solved = positions(game, who, COUNT, seed)
        found += [Probe("solved", solved)] if len(solved) >= FEWEST else []
    return found


class _Tries:
    """Counts the moves that are tried."""

    def __init__(self) -> None:
        self.left = TRIES

    def after(self, state: GameState, action: int) -> GameState:
        self.left -= 1
        return state.takeAction(action)[0]


Right = Callable[[GameState, _Tries], set[int]]


def _drawn(game: Game, right: Right, rng: np.random.Generator) -> Iterator[Solved]:
    """Yield positions of random play in which some move is right and another is not, no two alike up to symmetry."""
    tries, seen, count = _Tries(), set(), 0
    while tries.left > 0 and count < COUNT:
        state, moves = game.start(), []
        while not state.isEndGame and tries.left > 0 and count < COUNT:
            moves.append(int(rng.choice(state.allowedActions)))
            state = tries.after(state, moves[-1])
            if state.isEndGame or len(state.allowedActions) < 2 or (key := identity(game, state)) in seen:
                continue
            seen.add(key)
            good = right(state, tries)
            if 0 < len(good) < len(state.allowedActions):
                count += 1
                yield Solved(tuple(moves), state, {int(a): 1.0 if a in good else -1.0 for a in state.allowedActions})


def winning_moves(state: GameState, tries: _Tries | None = None) -> set[int]:
    """Return the moves that end the game with a win."""
    tries, good = tries or _Tries(), set()
    for action in state.allowedActions:
        after = tries.after(state, action)
        if after.isEndGame and after.value * after.playerTurn * state.playerTurn > 0:
            good.add(int(action))
    return good


def stopping_moves(state: GameState, tries: _Tries | None = None) -> set[int]:
    """Return the only move after which the other has no win in one; nothing where there are more, or a win at once."""
    tries, good = tries or _Tries(), set[int]()
    if _can_win(state, tries):
        return good
    for action in state.allowedActions:
        after = tries.after(state, action)
        if after.isEndGame or not _can_win(after, tries):
            good.add(int(action))
            if len(good) > 1:
                return set()
    return good


def wins_in_three(state: GameState, tries: _Tries | None = None) -> set[int]:
    """Return the moves after which every answer allows a win in one; nothing where there is a win at once."""
    tries = tries or _Tries()
    return set() if _can_win(state, tries) else {int(a) for a in state.allowedActions if _forces(state, a, tries)}


def _forces(state: GameState, action: int, tries: _Tries) -> bool:
    after = tries.after(state, action)
    if after.isEndGame or after.playerTurn == state.playerTurn or _can_win(after, tries):
        return False
    answers = (tries.after(after, a) for a in after.allowedActions)
    return all(not s.isEndGame and s.playerTurn == state.playerTurn and _can_win(s, tries) for s in answers)


def _can_win(state: GameState, tries: _Tries) -> bool:
    """Return whether a move wins at once."""
    if isinstance(state, CompiledState) and state.game.rules is not None:
        tries.left -= 1
        told = state.game.rules.winning(state.row)
        if told != NOT_TOLD:
            return bool(told >= 0)
    return bool(winning_moves(state, tries))


def _replies(game: Game, who: Oracle) -> list[Solved]:
    """Return the positions after one move whose answers differ in value, up to symmetry; [] if they are not solved."""
    start, found, seen = game.start(), [], set()
    if who.plies[0] > 1:
        return []
    for action in start.allowedActions:
        state = start.takeAction(action)[0]
        if state.isEndGame or (key := identity(game, state)) in seen:
            continue
        seen.add(key)
        scores = who.scores(state)
        if scores is not None and len(set(np.sign(list(scores.values())))) > 1:
            found.append(Solved((int(action),), state, scores))
    return found


# ---- versions


def chosen_versions(numbers: Sequence[int], most: int = LOOKED_AT) -> list[int]:
    """Return at most `most` of a run's versions, the first and the last among them, closer together at the start.

    >>> chosen_versions(range(101), 6)
    [0, 4, 16, 36, 64, 100]
    """
    last = len(numbers) - 1
    if last < most or most == 1:
        return list(numbers[-most:])
    return [numbers[i] for i in sorted({round(last * (k / (most - 1)) ** 2) for k in range(most)})]


def network_of(folder: Path, version: int, game: Game) -> Agent:
    """Return a version of the run in a folder, loaded as players are: no Keras where there is another way."""
    agent = make_player(f"{folder.name}:version{version:04}", game, root=folder.parent.parent)
    if not isinstance(agent, Agent):
        raise UserError(f"expected a network, got {agent.name}")
    return agent


def shares(agent: Agent, asked: Sequence[Probe]) -> dict[str, float]:
    """Return {kind: share of the positions in which the most probable move is right}, by one batch for all."""
    together = [p for probe in asked for p in probe.positions]
    chosen = iter(choose_alone(agent, together)) if together else iter(())
    return {
        probe.kind: float(np.mean([next(chosen) in position.keeping for position in probe.positions]))
        for probe in asked
    }  # fmt: skip


def milestones(found: Mapping[int, Mapping[str, float]]) -> list[Milestone]:
    """Return the milestones that the newest version holds, by version.

    found: {version: `shares`}; a version between two that were looked at counts as the later one.

    >>> milestones({0: {"win": 0.2}, 3: {"win": 0.95}, 4: {"win": 0.7}, 7: {"win": 0.91}, 9: {"win": 1.0}})
    [Milestone(version=7, kind='win')]
    """
    reached: dict[str, int] = {}
    for version in sorted(found):
        for kind, share in found[version].items():
            if share > REACHED:
                reached.setdefault(kind, version)
            else:
                reached.pop(kind, None)
    return sorted((Milestone(version, kind) for kind, version in reached.items()), key=lambda m: m.version)


def in_words(milestone: Milestone, first: int) -> str:
    """Return a milestone in words; `first`: the first version that was looked at, which may have had it all along."""
    what = tr(WORDS[milestone.kind])
    if milestone.version == first:
        return tr("version {number} already {what}", number=first, what=what)
    return tr("version {number} {what}", number=milestone.version, what=what)
