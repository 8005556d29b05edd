"""A stage between self-play and training, off by default: positions next to the games are searched, too.

A game shows what follows from the moves that were played. A side position is what would have followed from another one
that the search considered; it gets a full search of its own, whose visits and value are what it teaches, as no game
was played to its end from there (KataGo does so in self-play, its setting is `sidePositionProb`). In the memory it is a
game of its own that ends there.

What is found is stored with the stage's end. It follows from the games, the network and (run, iteration), so a run that
is killed finds the same again.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from game import GameState
from games.line_of_moves import after_moves
from initialise import Session
from storage.game_record import ILLEGAL_VISITS
from storage.position_data import SIDE, Sides
from training.position_search import search_positions
from training.selfplay import game_seed
from training.stage_bookkeeping import Stage, never


def search_side_positions(session: Session, stop: Callable[[], bool] = never) -> None:
    """Search side positions of the iteration and put them into the memory; raise `Stopped` when `stop` ended it."""
    s, stage = session, Stage(session, SIDE, stop)
    if not stage.finished:
        if "retrain" in stage.earlier or not s.config.side_share:
            return
        chosen = choose(s, round(s.config.side_share * s.store.trained_positions(stage.iteration)))
        visits, values = search_positions(stage, "side positions", [state for *_, state in chosen])
        kept = visits.any(axis=1)
        game, ply, move = np.array([place for *place, _ in chosen], np.int64).reshape(-1, 3)[kept].T
        found = Sides(game, ply, move, visits[kept], values[kept])
        stage.end({**found.facts(), "seconds": stage.seconds})
        stage = Stage(session, SIDE)
    if s.sided < stage.iteration:
        sides = Sides.of(stage.earlier[SIDE], s.game.action_size)
        s.memory.extend(sides.records(s.game, s.store.games_of(stage.iteration)), piece=max(len(sides.game), 1))
        s.sided = stage.iteration


def choose(session: Session, count: int) -> list[tuple[int, int, int, GameState]]:
    """Return at most `count` positions as (game, ply, move, the position after it), in the order of the games.

    The plies are drawn among those with a full search that considered another move than the one played, the move by
    the visits of the others.
    """
    s, iteration = session, session.iteration
    rng = np.random.default_rng(game_seed(f"{s.store.get('run') or ''}/{SIDE}", iteration, 0))
    considered = []
    for record in s.store.games_of(iteration):
        if not record.visits.size:  # no search of it was a full one
            continue
        others = _others(record.visits, record.moves)
        considered += [(record, ply) for ply in np.flatnonzero(others.any(axis=1)).tolist()]
    found = []
    for place in sorted(rng.permutation(len(considered))[:count].tolist()):
        record, ply = considered[place]
        weights = _others(record.visits[ply : ply + 1], record.moves[ply : ply + 1])[0]
        move = int(rng.choice(len(weights), p=weights / weights.sum()))
        state = after_moves(s.game, [*record.moves[:ply].tolist(), move])
        if not state.isEndGame:
            found.append((record.index, ply, move, state))
    return found


def _others(visits: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """Return visits [plies, actions] of the legal moves that were not played."""
    found = np.where(visits == ILLEGAL_VISITS, 0, visits)
    found[np.arange(len(moves)), moves] = 0
    return found
