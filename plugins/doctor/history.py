"""Checks of a run: what its metrics, games and networks show about its learning.

A run that is too young for a check passes it; each check says from when on it judges.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from config import Config
from game import Game
from memory import Memory, Positions
from plugins.doctor.examination import Found, lacked, random_game, unchecked
from storage.atomic_files import DamagedData, read_checked
from storage.checkpoints import path_of, read_weights
from storage.game_record import ILLEGAL_VISITS, IMPORTED, GameRecord
from storage.run_folders import game_of, read_config, remedy, settings_fault
from storage.run_store import Store
from system.reading import LINES_BYTES, read_limited

YOUNG = 10
"""Iterations with training before losses are judged."""
LAST = 3
"""Iterations whose games are checked."""
FEW = 50
"""Games below which their results are not judged."""
OFF = 0.1
"""Largest mean distance of the searches' values from the results: healthy runs have under 0.06 from iteration 3 on."""


@dataclass
class History:
    """The contents of a run, read without changing anything."""

    folder: Path
    config: Config
    game: Game
    lines: list[dict[str, Any]]
    """Lines of metrics.jsonl, those that can be read."""
    unreadable: int
    """Number of lines that cannot be read."""
    iterations: int
    """Finished iterations, by run.db."""
    records: list[GameRecord]
    """Self-play games of the last iterations."""
    answers: tuple[np.ndarray, np.ndarray] | None = None
    """(value [B], logits) of the newest network for positions of these games; None before the first training."""
    version: int = 0
    """The newest network's version."""
    fault: str = ""
    """Why the database or a network cannot be read."""
    unasked: str = ""
    """Why the newest network was not asked, which is no damage; "" if it was."""
    positions: Positions | None = field(default=None, repr=False)

    def column(self, name: str) -> np.ndarray:
        """Return a metric of all iterations that have it."""
        return np.array([line[name] for line in self.lines if isinstance(line.get(name), int | float)], float)


def read_history(folder: Path) -> History:
    """Read a run; damage becomes a finding; settings that cannot be read raise an error."""
    config = read_config(folder)
    game = game_of(folder, config)
    lines, unreadable = _metrics(folder / "metrics.jsonl")
    history = History(folder, config, game, lines, unreadable, len(lines), [])
    try:
        store = Store(folder / "run.db", read_only=True)
        try:
            history.iterations = store.iterations_done()
            history.fault = settings_fault(folder, store.get("config"))
            for iteration in range(max(history.iterations - LAST + 1, 1), history.iterations + 1):
                history.records += (record for record in store.games_of(iteration) if record.index < IMPORTED)
            if not history.fault:
                _ask_network(history, store)
        finally:
            store.close()
    except Exception as error:  # sqlite3, numpy and our own: a damaged file can raise anything
        history.fault = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"
    return history


def _metrics(path: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the lines that are objects with an iteration, and the number of the others."""
    try:
        texts = read_limited(path, LINES_BYTES).decode(errors="replace").splitlines() if path.exists() else []
    except OSError:
        return [], 1
    lines = []
    for text in texts:
        try:
            lines.append(json.loads(text))
        except (ValueError, RecursionError):
            lines.append(None)
    good = [line for line in lines if isinstance(line, dict) and type(line.get("iteration")) is int]
    return good, len(lines) - len(good)


def _ask_network(history: History, store: Store) -> None:
    """Evaluate up to 256 positions of the games with the newest network, where it can be built."""
    parts = [Memory(history.game, 1).positions(record) for record in history.records[:60]]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] if parts else []
    history.positions = Positions(*(column[:256] for column in columns)) if columns and len(columns[0]) else None
    newest = store.versions()[-1]
    version = history.version = newest.version
    read_checked(path_of(history.folder, newest.file), newest.sha256)
    try:
        from model import make_network

        model = make_network(history.config, history.game, typed=False)
        weights = read_weights(history.folder, store, version, [w.shape for w in model.get_weights()])
        if version and history.positions is not None:
            model.set_weights(weights)
            planes = history.positions.planes.reshape(-1, *history.game.input_shape)
            history.answers = model.predict(planes)
    except DamagedData:
        raise
    except Exception as error:  # no Keras, your own network, no memory: the run is as it was
        history.unasked = lacked(error) or f"({(str(error).splitlines() or [type(error).__name__])[0][:200]})"


def _young(found: int, needed: int, what: str = "iterations") -> Found:
    return Found(True, f"too early to judge ({found} of {needed} {what})")


def _few_games(run: History, found: int, what: str) -> Found:
    """Return the result where there are too few games to judge, be it that not all of them can be read."""
    return unchecked("(the run's games cannot be read)") if run.fault else _young(found, FEW, what)


def of_games(check: Callable[[History], Found]) -> Callable[[History], Found]:
    """Let a check wait until there are enough games to judge."""

    @wraps(check)
    def waiting(run: History) -> Found:
        return check(run) if len(run.records) >= FEW else _few_games(run, len(run.records), "games")

    return waiting


# ---- files


UNDAMAGED = "files that are what the run wrote"


def files(run: History) -> Found:
    unbuilt = " (its sha256 is right)" if run.unasked else ""
    read = f"{run.iterations} iterations, database and newest network can be read{unbuilt}"
    return Found(not run.fault, run.fault or read, UNDAMAGED, remedy(run.folder, run.game.spec) if run.fault else "")


def metrics(run: History) -> Found:
    numbers = [line["iteration"] for line in run.lines]
    gaps = sorted(set(range(1, run.iterations + 1)) - set(numbers))
    wrong = [f"{run.unreadable} lines that are no iteration's"] if run.unreadable else []
    more = f" and {len(gaps) - 5} more" if len(gaps) > 5 else ""
    wrong += [f"iterations missing: {', '.join(map(str, gaps[:5]))}{more}"] if gaps else []
    wrong += ["iterations twice"] if len(set(numbers)) < len(numbers) else []
    return Found(
        not wrong,
        "; ".join(wrong) or f"{len(numbers)} lines",
        "a line an iteration",
        "resume the run: metrics.jsonl is written again from run.db",
    )


# ---- losses


def finite(run: History) -> Found:
    names = ("retrain_loss", "retrain_value_loss", "retrain_policy_loss")
    losses = [(line["iteration"], line.get(name)) for line in run.lines for name in names]
    bad = [iteration for iteration, loss in losses if isinstance(loss, float) and not np.isfinite(loss)]
    return Found(
        not bad,
        f"losses of iteration {bad[0]} are not finite" if bad else "all losses are finite",
        "finite losses",
        _slower(run),
    )


def rising_loss(run: History) -> Found:
    losses = run.column("retrain_loss")
    if len(losses) < YOUNG:
        return _young(len(losses), YOUNG)
    smooth = np.convolve(losses, np.ones(3) / 3, "valid")
    ratio = smooth[-1] / max(smooth.min(), 1e-9)
    return Found(
        not ratio > 1.5,
        f"loss {smooth[-1]:.3f}, at its best {smooth.min():.3f}",
        "at most 1.5 times the best",
        _slower(run),
    )


def _slower(run: History) -> str:
    return f"a smaller --learning-rate than {run.config.learning_rate:g}; a tenth is a good first try"


def value_loss(run: History) -> Found:
    losses = run.column("retrain_value_loss")
    if len(losses) < YOUNG:
        return _young(len(losses), YOUNG)
    now, first = float(losses[-5:].mean()), float(losses[:3].mean())
    results = np.array([record.result for record in run.records]) if run.records else np.array([1.0, -1.0])
    guess = (1 - run.config.value_from_search) ** 2 * float(results.var())
    stuck = now > 0.9 * first and now > 0.9 * guess
    return Found(
        not stuck,
        f"value loss {first:.3f} at first, {now:.3f} now; a guess of the mean result has {guess:.3f}",
        "less than 90 % of either",
        "check signs and rules (above); more --mcts-sims or a larger network",
    )


def policy_loss(run: History) -> Found:
    losses = run.column("retrain_policy_loss")
    if len(losses) < YOUNG:
        return _young(len(losses), YOUNG)
    now, first, guess = float(losses[-5:].mean()), float(losses[:3].mean()), np.log(run.game.action_size)
    if run.positions is not None:
        legal = (run.positions.visits != ILLEGAL_VISITS).sum(axis=1)
        guess = float(np.log(legal).mean())
    return Found(
        now < 0.97 * first or now < 0.95 * guess,
        f"policy loss {first:.3f} at first, {now:.3f} now; a guess among the legal moves has {guess:.3f}",
        "less than 97 % of the first or 95 % of a guess",
        "more --mcts-sims (the search must know better than the network), a smaller --epsilon",
    )


def entropy(run: History) -> Found:
    """Entropy of the visits; 1 = all legal moves alike."""
    shares = []
    for record in run.records:
        for visits in record.visits[record.visits.any(axis=1)]:
            p = visits[visits > 0] / visits.sum()
            shares.append(float(-(p * np.log(p)).sum()) / np.log(max(len(visits), 2)))
    if len(shares) < FEW:
        return _few_games(run, len(shares), "searches")
    mean = float(np.mean(shares))
    return Found(
        mean > 0.02,
        f"entropy of the visits {100 * mean:.1f} % of the most there can be",
        "more than 2 %",
        "a larger --epsilon or --cpuct, a larger --turns-until-tau0: self-play no longer explores",
    )


# ---- games


@of_games
def draws(run: History) -> Found:
    share = float(np.mean([record.result == 0 for record in run.records]))
    return Found(
        share < 0.99,
        f"{100 * share:.0f} % of the last games are draws",
        "less than 99 %",
        "more --random-opening-share and --random-opening-plies; check that the rules know a winner",
    )


@of_games
def one_side(run: History) -> Found:
    won = [float(np.mean([np.sign(record.result) == side for record in run.records])) for side in (1, -1)]
    side = "the player who began" if won[0] > won[1] else "the other side"
    return Found(
        max(won) < 0.98,
        f"{side} won {100 * max(won):.0f} % of the last games",
        "less than 98 %",
        "more --random-opening-plies; a fairer komi or start; check the sign of the result",
    )


@of_games
def duplicates(run: History) -> Found:
    share = len({record.moves.tobytes() for record in run.records}) / len(run.records)
    return Found(
        share > 0.25,
        f"{100 * share:.0f} % of the last games are different",
        "more than 25 %",
        "more --random-opening-share, --epsilon or --turns-until-tau0",
    )


@of_games
def length(run: History) -> Found:
    """Games that end at the cap only, where games of random moves do not."""
    cap = run.game.max_plies
    share = float(np.mean([len(record.moves) >= cap for record in run.records]))
    natural = float(np.mean([len(random_game(run.game, seed)) > cap for seed in range(20)])) if share >= 0.9 else 0.0
    return Found(
        share < 0.9 or natural > 0.5,
        f"{100 * share:.0f} % of the last games ran to the longest, {cap} moves",
        "less than 90 %",
        "a larger limit of moves in the rules: results at a limit teach little",
    )


@of_games
def search_values(run: History) -> Found:
    """What the searches of positions that they did not prove say of these, less the results; for the player to move."""
    if run.iterations < YOUNG:
        return _young(run.iterations, YOUNG)
    off, count = np.zeros(len(run.records)), np.zeros(len(run.records))
    for i, record in enumerate(run.records):
        found = Memory(run.game, 1).positions(record)
        unproven = np.abs(found.value) < 1
        off[i], count[i] = (found.value - found.result)[unproven].sum(), unproven.sum()
    if not count.any():
        return Found(True, "all searches proved their positions")
    mean = off.sum() / count.sum()
    error = float(np.sqrt(np.square(off - mean * count).sum()) / count.sum())  # games are independent, positions not
    return Found(
        abs(mean) < OFF + 3 * error,
        f"values of searches are {mean:+.3f} off the results, with a standard error of {error:.3f}",
        f"less than {OFF} off",
        "check how the rules count a result; where they are right, it is a fault of the search: please report it",
    )


# ---- memory, tournaments, network


def memory(run: History) -> Found:
    filled, c = run.column("self_play_memory"), run.config
    if len(filled) < LAST:
        return _young(len(filled), LAST)
    added = (filled[-1] - filled[0]) / (len(filled) - 1)
    still = filled[-1] < c.memory_size and filled[-1] <= filled[-LAST]
    far = filled[-1] < c.min_memory and len(filled) + (c.min_memory - filled[-1]) / max(added, 1e-9) > c.iterations / 2
    return Found(
        not still and not far,
        f"{filled[-1]:,.0f} positions, {added:,.0f} more an iteration; training needs {c.min_memory:,}",
        "a window that fills before half of the run is over",
        "more --episodes or --full-search-share, a smaller --min-memory",
    )


def promotions(run: History) -> Found:
    played = [line for line in run.lines if line.get("tournament_played")]
    if len(played) < 5:
        return _young(len(played), 5, "tournaments")
    promoted = sum(bool(line.get("tournament_promoted")) for line in played)
    return Found(
        promoted > 0,
        f"{promoted} of {len(played)} tournaments promoted",
        "at least one in the first five",
        "look at the losses; more --eval-episodes, or a lower --sprt-score or --scoring-threshold",
    )


def network(run: History) -> Found:
    if run.unasked:
        return unchecked(run.unasked)
    if run.fault:
        return unchecked("(the run's files are damaged, as said above)")
    if run.answers is None:
        return Found(True, f"version {run.version}, no games to evaluate it on" if run.version else "not trained yet")
    values, logits = run.answers
    if not (np.isfinite(values).all() and np.isfinite(logits).all()):
        return Found(False, "answers are not finite", "finite answers", _slower(run))
    spread = float(np.std(values)), float(np.std(logits - logits.mean(axis=1, keepdims=True), axis=0).mean())
    return Found(
        min(spread) > 1e-4 and float(np.abs(values).mean()) < 0.999,
        f"values {values.mean():+.2f} +- {spread[0]:.3f}, logits +- {spread[1]:.3f} over {len(values)} positions",
        "answers that depend on the position",
        "the network is dead: a smaller --learning-rate, --new",
    )


def lag(run: History) -> Found:
    """How much of an iteration learning takes, and whether `lag` could hide it, or does. It is no fault."""
    names = "seconds", "self_play_seconds", "retrain_seconds"
    rows = [[line[name] for name in names] for line in run.lines if all(name in line for name in names)]
    if not rows:
        return _young(len(rows), 1)
    total, played, learned = np.sum(rows, axis=0)
    hidden = float(np.minimum(*np.array(rows)[:, 1:].T).sum() / total)
    shares = f"games take {100 * played / total:.0f} % of an iteration, learning {100 * learned / total:.0f} %"
    words = f"lag {run.config.lag}; {shares}"
    if run.config.lag:
        return Found(True, f"{words}; without a GPU or other machines that play, --lag 0 is as fast and learns sooner")
    options = "--lag 1 --reanalyse-share 0" if run.config.reanalyse_share else "--lag 1"
    return Found(True, f"{words}; with a GPU or other machines that play, {options} saves up to {100 * hidden:.0f} %")


CHECKS = {
    "files": files,
    "metrics": metrics,
    "finite losses": finite,
    "learning rate": rising_loss,
    "value loss": value_loss,
    "policy loss": policy_loss,
    "entropy": entropy,
    "draws only": draws,
    "one side wins": one_side,
    "duplicate games": duplicates,
    "game length": length,
    "search values": search_values,
    "memory": memory,
    "promotions": promotions,
    "network": network,
    "lag": lag,
}
