"""A stage between self-play and training, in Connect 4's preset: stored positions are searched again.

Early positions of earlier games are searched with the newest network, those first whose search was furthest from what
the game showed (reanalysis: Schrittwieser et al. 2021, arXiv 2104.06294; of part of the positions: ReZero, arXiv
2404.16364). The new search's visits and value become what they teach.

What is found is stored with the stage's end and put into the memory; the games on disk stay as they are. It follows
from the games, the network and (run, iteration), so a run that is killed finds the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from game import GameState
from games.line_of_moves import after_moves
from initialise import Session
from storage.position_data import REANALYSE, Searched
from training.divergence import stepping_back
from training.position_search import search_positions
from training.search_errors import KEPT, Errors
from training.stage_bookkeeping import Stage, never
from training.work import work_of

REACH = KEPT
"""Iterations back from which positions are searched again; the present one's were searched by the newest network."""


def reanalyse(session: Session, stop: Callable[[], bool] = never) -> None:
    """Search stored positions again and let the memory teach what is found; raise `Stopped` when `stop` ended it.

    What earlier iterations found is in the memory since it was loaded.
    """
    s, stage = session, Stage(session, REANALYSE, stop)
    if not stage.finished:
        if "retrain" in stage.earlier or not s.config.reanalyse_share or not s.current_version:
            return
        chosen = choose(s, round(s.config.reanalyse_share * s.store.trained_positions(stage.iteration)))
        with stepping_back(s):
            found, facts = _search_again(stage, chosen)
        stage.end({**found.facts(), **facts, "seconds": stage.seconds})
        stage = Stage(session, REANALYSE)
    s.memory.retarget(*Searched.of(stage.earlier[REANALYSE], s.game.action_size))


def choose(session: Session, count: int) -> list[tuple[int, int, int, np.uint64]]:
    """Return (iteration, game, ply, name) of the early positions in the memory with the largest errors, of none that
    was chosen before; in the order of the games."""
    s, now = session, session.iteration
    iterations = range(max(1, now - REACH), now)
    errors = work_of(s).search_errors
    parts = [errors.of(iteration) for iteration in iterations]
    if not parts:
        return []
    found = Errors(*map(np.concatenate, zip(*parts, strict=True)))
    iteration = np.repeat(iterations, [len(part.ply) for part in parts])
    done = [Searched.of(facts, s.game.action_size).names for _, facts in s.store.stage_facts(REANALYSE, iterations)]
    held = s.memory.ltmemory.origin[: len(s.memory)]
    fresh = found.early & (found.error > 0) & np.isin(found.name, held)
    fresh &= ~np.isin(found.name, np.concatenate([np.zeros(1, np.uint64), *done]))
    _, first = np.unique(found.name[fresh], return_index=True)
    at = np.flatnonzero(fresh)[first]  # of two equal games one
    worst = at[np.lexsort((found.ply[at], found.number[at], iteration[at], -found.error[at]))[:count]]
    columns = iteration[worst].tolist(), found.number[worst].tolist(), found.ply[worst].tolist(), found.name[worst]
    return sorted(zip(*columns, strict=True))


def _search_again(
    stage: Stage, chosen: Sequence[tuple[int, int, int, np.uint64]]
) -> tuple[Searched, dict[str, float]]:
    """Return the new searches of these positions, and facts: the mean distance of their values from the old ones, and
    the evaluations by the network."""
    s, before = stage.session, np.zeros(len(chosen), np.float32)
    states: list[GameState] = []
    for k, (iteration, index, ply, _) in enumerate(chosen):
        record = s.store.game(iteration, index)
        before[k] = record.values[ply]
        states.append(after_moves(s.game, record.moves[:ply].tolist()))
    visits, values, evaluations = search_positions(stage, "reanalysis", states)
    names = np.array([name for *_, name in chosen], np.uint64)
    changed = float(np.abs(values - before).mean()) if len(chosen) else 0.0
    return Searched(names, visits, values), {"changed": changed, "evaluations": evaluations}
