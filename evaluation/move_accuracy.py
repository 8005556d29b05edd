"""How often a player's move keeps the game's value, on positions solved exactly (see evaluation/solved_positions.py).

All figures come from positions whose legal moves differ in value. Intervals are Wilson's, 95 %.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from agent import Agent, Player
from evaluation.rating import wilson
from evaluation.solved_positions import Oracle, Solved
from games.endings import endings_of
from search.evaluation_cache import NotFinite
from search.tables import trees_in

TREES_BYTES = 1 << 29
"""Largest memory of the search trees side by side, in bytes."""
SIDE_BY_SIDE = 16, 512
"""Positions searched side by side: by any player (its trees may be large); at most by a network's search."""
DIFFICULTIES = ("one move keeps", "up to half keep", "more keep")


class Share(NamedTuple):
    """The share of some positions, their number, and the 95 % interval of the share."""

    positions: int
    share: float | None
    """None without positions."""
    low: float | None
    high: float | None

    def __str__(self) -> str:
        """Return it in percent, with the longer half of the interval."""
        if self.share is None or self.low is None or self.high is None:
            return "-"
        return f"{100 * self.share:.1f} ±{100 * max(self.high - self.share, self.share - self.low):.1f}"


def share(hits: Sequence[bool] | np.ndarray) -> Share:
    """Return the share of hits with its interval.

    >>> str(share([True] * 90 + [False] * 10))
    '90.0 ±7.4'
    """
    n = len(hits)
    if n == 0:
        return Share(0, None, None, None)
    mean = float(np.mean(hits))
    return Share(n, mean, *wilson(mean, n))


class Measured(NamedTuple):
    """Accuracy of a player's moves on solved positions."""

    kept: Share
    """Moves that keep the game's value."""
    best: Share
    """Moves of the best score: also the fastest win and the longest defence, if scores distinguish them."""
    stages: list[tuple[str, Share]]
    """Kept, by plies played."""
    difficulties: list[tuple[str, Share]]
    """Kept, by how many of the legal moves keep the value."""


def measure(chosen: Sequence[int], positions: Sequence[Solved], bands: Sequence[int]) -> Measured:
    """Judge one move for each position."""
    kept = np.array([move in p.keeping for move, p in zip(chosen, positions, strict=True)], bool)
    best = np.array([move in p.best for move, p in zip(chosen, positions, strict=True)], bool)
    return Measured(share(kept), share(best), _split(kept, stages(positions, bands)), _split(kept, hardness(positions)))


def _split(kept: np.ndarray, groups: list[tuple[str, np.ndarray]]) -> list[tuple[str, Share]]:
    return [(name, share(kept[inside])) for name, inside in groups]


def stages(positions: Sequence[Solved], bands: Sequence[int]) -> list[tuple[str, np.ndarray]]:
    """Return (name, mask [positions]) of each band of plies; the last one has no end."""
    plies = np.array([p.ply for p in positions])
    ends = [*bands[1:], max(*bands, *plies.tolist()) + 1]
    return [(f"plies {a}-{b - 1}", (plies >= a) & (plies < b)) for a, b in zip(bands, ends, strict=True)]


def hardness(positions: Sequence[Solved]) -> list[tuple[str, np.ndarray]]:
    """Return (name, mask [positions]) of positions in which one move keeps the value, up to half do, more do."""
    counts = np.array([len(p.keeping) for p in positions])
    half = 2 * counts <= [len(p.scores) for p in positions]
    return list(zip(DIFFICULTIES, (counts == 1, (counts > 1) & half, (counts > 1) & ~half), strict=True))


def chance(positions: Sequence[Solved]) -> dict[str, float]:
    """Return what a uniformly random move is expected to score: {"kept": share, "best": share}."""
    return {
        "kept": float(np.mean([len(p.keeping) / len(p.scores) for p in positions])),
        "best": float(np.mean([len(p.best) / len(p.scores) for p in positions])),
    }


# ---- choosing moves


def without_solver(agent: Agent, who: Oracle) -> Agent:
    """Return the player for `choose`: where the oracle knows endings only, one that does not solve endings itself.

    It would solve the very positions of the oracle, and be measured in the place of the network and its search.
    """
    solves = agent.search.proofs and agent.search.endgame and endings_of(agent.game) is not None
    return agent.twin(agent.game, agent.mcts_sims, changes={"endgame": 0}) if who.endings and solves else agent


def choose(
    player: Player,
    positions: Sequence[Solved],
    sims: Sequence[int] = (),
    *,
    seed: int = 0,
    report: Callable[[int], None] = lambda n: None,
) -> dict[int, list[int]]:
    """Return {simulations: chosen moves}; {0: moves} of a player that has no simulations to set.

    A network's search resumes from one number of simulations to the next, which gives the same trees as separate
    searches. A move depends on (seed, position) and the player only. `report` is called with the number of positions
    done.
    """
    counts = sorted(set(sims)) if isinstance(player, Agent) else [0]
    chosen: dict[int, list[int]] = {n: [] for n in counts}
    size = _side_by_side(player, counts[-1])
    for start in range(0, len(positions), size):
        batch = positions[start : start + size]
        if isinstance(player, Agent):
            player.mcts_sims = counts[-1]
        player.new_games(len(batch))
        for slot, position in enumerate(batch):
            player.new_game(slot, int(np.random.default_rng([seed, start + slot]).integers(2**63)))
            for move in position.moves:
                player.observe(slot, move)
        for n in counts:
            if isinstance(player, Agent):
                player.mcts_sims = n
            states = [p.state for p in batch]
            chosen[n] += [d.action for d in player.act_many(range(len(batch)), states, [0.0] * len(batch))]
        report(start + len(batch))
    return chosen


def _side_by_side(player: Player, sims: int) -> int:
    if not isinstance(player, Agent):
        return min(player.at_once, SIDE_BY_SIDE[0])
    return int(np.clip(trees_in(TREES_BYTES, player.game, sims), 1, SIDE_BY_SIDE[1]))


def choose_alone(agent: Agent, positions: Sequence[Solved]) -> list[int]:
    """Return the network's most probable legal move in each position, without search."""
    _, logits = _answers(agent, [p.planes for p in positions])
    return [max(p.scores, key=lambda a, row=row: row[a]) for p, row in zip(positions, logits, strict=True)]  # type: ignore[misc]


class ValueFit(NamedTuple):
    """Difference between a network's values and exact ones, on the positions after each legal move."""

    positions: int
    mean_absolute_error: float
    correlation: float


def value_error(agent: Agent, positions: Sequence[Solved]) -> ValueFit:
    """Compare the value head with the exact values (-1, 0, 1) of all positions one move later that are not over."""
    after = [pair for p in positions for pair in p.following]
    values, _ = _answers(agent, [planes for planes, _ in after])
    truth = np.array([value for _, value in after], float)
    varies = np.ptp(values) > 0 and np.ptp(truth) > 0
    return ValueFit(
        len(truth), float(np.abs(values - truth).mean()), float(np.corrcoef(values, truth)[0, 1]) if varies else 0.0
    )


def _answers(agent: Agent, planes: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return (values [B], logits [B, action_size]) in float64, in batches; raise `NotFinite` if one is not."""
    size = 512
    parts = [agent.predict(np.stack(planes[i : i + size])) for i in range(0, len(planes), size)]
    values, logits = (np.concatenate(part).astype(float) for part in zip(*parts, strict=True))
    if not (np.isfinite(values).all() and np.isfinite(logits).all()):
        raise NotFinite("expected finite answers of the network, got NaN or infinity")
    return values, logits
