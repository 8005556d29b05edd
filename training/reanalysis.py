"""Stages between self-play and training that look again at stored positions; all are off by default.

`reanalyse` searches early positions of earlier games again with the newest network, those first whose search was
furthest from what the game showed (reanalysis: Schrittwieser et al. 2021, arXiv 2104.06294; of part of the positions:
ReZero, arXiv 2404.16364). The new search's visits and value become what they teach. `surprise` weighs an iteration's
positions by the KL divergence of the search's policy from the network's (KataGo, docs/KataGoMethods.md).

What they find is stored with the stage's end and put into the memory; the games on disk stay as they are. It follows
from the games, the network and (run, iteration), so a run that is killed finds the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from game import GameState
from games.line_of_moves import after_moves
from initialise import Session
from storage.game_record import ILLEGAL_VISITS
from storage.position_data import REANALYSE, SURPRISE, Searched, Weights
from training.divergence import stepping_back
from training.game_source import source_of
from training.hindsight import KEPT, Errors
from training.position_search import search_positions
from training.side_positions import search_side_positions
from training.stage_bookkeeping import Stage, never

REACH = KEPT
"""Iterations back from which positions are searched again; the present one's were searched by the newest network."""
PIECE = 512
"""Positions in a request for the network's policy."""


def look_again(session: Session, stop: Callable[[], bool] = never) -> None:
    """Do both and search side positions; what earlier iterations found is in the memory since it was loaded."""
    with stepping_back(session):
        reanalyse(session, stop)
        surprise(session, stop)
        search_side_positions(session, stop)


def reanalyse(session: Session, stop: Callable[[], bool] = never) -> None:
    """Search stored positions again and let the memory teach what is found; raise `Stopped` when `stop` ended it."""
    s, stage = session, Stage(session, REANALYSE, stop)
    if not stage.finished:
        if "retrain" in stage.earlier or not s.config.reanalyse_share or not s.current_version:
            return
        chosen = choose(s, round(s.config.reanalyse_share * s.store.trained_positions(stage.iteration)))
        found, changed = _search_again(stage, chosen)
        stage.end({**found.facts(), "changed": changed, "seconds": stage.seconds})
        stage = Stage(session, REANALYSE)
    s.memory.retarget(*Searched.of(stage.earlier[REANALYSE], s.game.action_size))


def choose(session: Session, count: int) -> list[tuple[int, int, int, np.uint64]]:
    """Return (iteration, game, ply, name) of the early positions in the memory with the largest errors, of none that
    was chosen before; in the order of the games."""
    s, now = session, session.iteration
    iterations = range(max(1, now - REACH), now)
    hindsight = source_of(s).hindsight
    parts = [hindsight.of(iteration) for iteration in iterations]
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


def _search_again(stage: Stage, chosen: Sequence[tuple[int, int, int, np.uint64]]) -> tuple[Searched, float]:
    """Return the new searches of these positions, and the mean distance of their values from the old ones."""
    s, before = stage.session, np.zeros(len(chosen), np.float32)
    states: list[GameState] = []
    for k, (iteration, index, ply, _) in enumerate(chosen):
        record = s.store.game(iteration, index)
        before[k] = record.values[ply]
        states.append(after_moves(s.game, record.moves[:ply].tolist()))
    visits, values = search_positions(stage, "reanalysis", states)
    names = np.array([name for *_, name in chosen], np.uint64)
    return Searched(names, visits, values), float(np.abs(values - before).mean()) if len(chosen) else 0.0


# ---- surprise


def surprise(session: Session, stop: Callable[[], bool] = never) -> None:
    """Weigh the iteration's positions in the memory by how much the search surprised the network."""
    s, stage = session, Stage(session, SURPRISE, stop)
    if not stage.finished:
        if "retrain" in stage.earlier or not s.config.surprise_weight:
            return
        with stage.progress("surprise", s.store.trained_positions(stage.iteration)) as phase:
            found, mean = _surprises(stage, phase.update)
        stage.end({**found.facts(), "kl": mean, "seconds": stage.seconds})
        stage = Stage(session, SURPRISE)
    s.memory.weigh(*Weights.of(stage.earlier[SURPRISE]))


def _surprises(stage: Stage, report: Callable[[int], None]) -> tuple[Weights, float]:
    """Return the weights of the iteration's positions that train the policy, and the mean divergence."""
    s, share = stage.session, stage.session.config.surprise_weight
    version = s.best_version if s.config.selfplay_with == "best" else s.current_version
    predictor = s.predictor("selfplay", version)
    new = s.memory.joined(list(s.store.games_of(stage.iteration)))
    teaches = np.any((new.visits > 0) & (new.visits != ILLEGAL_VISITS), axis=1)
    planes, visits, names = new.planes[teaches], new.visits[teaches], new.origin[teaches]
    found = np.zeros(len(names))
    for start in range(0, len(names), PIECE):
        stage.check_stop()
        part = slice(start, start + PIECE)
        _, logits = predictor(planes[part].reshape(-1, *s.game.input_shape))
        found[part] = divergence(visits[part], logits)
        report(min(start + PIECE, len(names)))
    mean = float(found.mean()) if len(names) else 0.0
    weights = (1 - share) + share * found / mean if mean > 0 else np.ones(len(names))
    return Weights(names, weights.astype(np.float32)), mean


def divergence(visits: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """Return [n] float64, the KL divergence of the shares of visits [n, actions] from the softmax of logits over legal
    moves, in nats; illegal moves have ILLEGAL_VISITS."""
    legal = visits != ILLEGAL_VISITS
    target = np.where(legal, visits, 0).astype(np.float64)
    target /= np.maximum(target.sum(axis=1, keepdims=True), 1)
    shifted = np.where(legal, logits.astype(np.float64), -np.inf)
    shifted -= shifted.max(axis=1, keepdims=True)
    log_prior = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    log_target = np.log(np.where(target > 0, target, 1))
    return np.sum(target * np.where(target > 0, log_target - np.where(legal, log_prior, 0), 0), axis=1)
