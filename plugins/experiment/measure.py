"""What the runs of an experiment are worth: a round robin in each seed, and the value kept where a solver exists.

All of a seed play the same openings and choose in the same solved positions; another seed has others, and other chance
within the players, so that the seeds stay independent of each other. Each result is a line of results.jsonl, written
when it is known and never measured again.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import games
from agent import Agent, Player
from config import UserError
from evaluation.match import contest
from evaluation.move_accuracy import choose, choose_alone
from evaluation.solved_positions import Oracle, oracle, positions
from loggers import Console
from network.predictor import STEADY
from players.by_name import make_player
from plugins.experiment.plan import Plan
from plugins.experiment.remote_player import RemotePlayer
from plugins.experiment.runs import Job
from storage.atomic_files import writing
from system.reading import LINES_BYTES, read_limited

RESULTS = "results.jsonl"
OPEN = 8
"""Players that stay open from match to match at most: one with code of its own is a process with a back end."""
CURVE = 8, 300
"""Versions of a run, and positions, of which the curve of value kept by the network alone is made."""


def read_results(folder: Path) -> list[dict[str, Any]]:
    """Return what was measured so far; a last line without its end, of a kill, is not there.

    Raise `UserError` for a line that is no result.
    """
    path = folder / RESULTS
    if not path.exists():
        return []
    found = []
    for number, line in enumerate(read_limited(path, LINES_BYTES).split(b"\n")[:-1], 1):
        if (result := _result(line)) is None:
            raise UserError(
                f"{path}: line {number}: expected a result of this experiment, got {ascii(line[:60])[1:]}; without "
                "the line, the same command measures it again"
            )
        found.append(result)
    return found


def _result(line: bytes) -> dict[str, Any] | None:
    """Return the result that a line holds, None if it holds none."""
    try:
        found = json.loads(line)
        kind, numbers = found["kind"], [found["seed"], *found["variants"]]
        texts = [found["searched"], found.get("alone", "")] if kind == "kept" else []
        fits = (
            len(numbers) == {"match": 3, "kept": 2}[kind]
            and all(type(number) is int for number in numbers)
            and (kind != "match" or (found["scores"] and set(found["scores"]) <= {0.0, 0.5, 1.0}))
            and all(re.fullmatch("[01]*", text) for text in texts)
            and all(type(number) in (int, float) for x, y in found.get("curve", ()) for number in (x, y))
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return found if fits else None


def _add(folder: Path, kind: str, seed: int, numbers: list[int], **facts: Any) -> dict[str, Any]:
    """Append a result, in the place of a line that a kill has cut; return it."""
    line = {"kind": kind, "seed": seed, "variants": numbers, **facts}
    path = folder / RESULTS
    with writing(path), open(path, "ab") as file:
        data = read_limited(path, LINES_BYTES)
        file.truncate(data.rfind(b"\n") + 1)
        file.write(json.dumps(line).encode() + b"\n")
    return line


@contextlib.contextmanager
def player_of(plan: Plan, job: Job, changes: dict[str, Any] | None = None) -> Iterator[Player]:
    """Give a block the newest network of a run as a player: in a process of its own where its code is another.

    changes: of the settings of its search.
    """
    game = games.make(plan.game)
    name = f"{job.variant.name}, seed {job.seed}"
    settings = plan.changes(job.variant, job.seed)
    named = {key: settings[key] for key in ("forced_wins",) if key in settings}  # of which play has its own value
    named |= changes or {}
    if not (job.variant.checkout or job.variant.game or settings.get("network")):
        player = make_player("current", game, root=job.root, sims=plan.sims, smallest=STEADY, changes=named)
        player.name = name
        yield player
        return
    with open(job.root / "player.log", "ab") as log:
        words = [*job.program(), job.game, str(plan.sims), json.dumps(named)]
        remote = RemotePlayer(name, game, words, job.environment(), log)
        try:
            yield remote
        finally:
            remote.close()


class Table(contextlib.ExitStack):
    """Where the runs of a seed meet: a player is opened for its first match, and stays for the next."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self._plan = plan
        self._players: dict[int, Player] = {}

    def seat(self, *jobs: Job) -> list[Player]:
        """Return the players of these runs; others leave where there would be more than `OPEN`."""
        if len(self._players.keys() | {job.number for job in jobs}) > OPEN:
            self.close()
            self._players.clear()
        for job in jobs:
            if job.number not in self._players:
                self._players[job.number] = self.enter_context(player_of(self._plan, job))
        return [self._players[job.number] for job in jobs]


def solver_of(plan: Plan, say: Callable[[str], None] = lambda text: None) -> Oracle | None:
    """Return the solver of the plan's game, None without positions to solve; `say` gets why one is not here."""
    try:
        return oracle(games.make(plan.game)) if plan.positions else None
    except UserError as error:
        say(f"no solved positions: {error}")
        return None


def measure_all(plan: Plan, jobs: list[Job], folder: Path, console: Console) -> list[dict[str, Any]]:
    """Measure what is not measured yet; return all results."""
    results = match_all(plan, jobs, folder, console)
    if (who := solver_of(plan)) is not None:
        known = {(r["seed"], *r["variants"]) for r in results if r["kind"] == "kept"}
        for seed, block in _by_seed(plan, jobs).items():
            block = [job for job in block if (seed, job.number) not in known]
            found = positions(games.make(plan.game), who, plan.positions, seed) if block else []
            for job in block:
                if found:
                    results.append(_add(folder, "kept", seed, [job.number], **_kept(plan, job, who, found)))
    return results


def match_all(plan: Plan, jobs: list[Job], folder: Path, console: Console) -> list[dict[str, Any]]:
    """Let the runs of each seed play each other, unless they have; return all results."""
    results = read_results(folder)
    known = {(r["seed"], *r["variants"]) for r in results if r["kind"] == "match"}
    for seed, block in _by_seed(plan, jobs).items():
        with Table(plan) as table:
            for one, other in itertools.combinations(block, 2):
                if (seed, one.number, other.number) not in known:
                    scores = _match(plan, one, other, table, console)
                    results.append(_add(folder, "match", seed, [one.number, other.number], scores=scores))
    return results


def _by_seed(plan: Plan, jobs: list[Job]) -> dict[int, list[Job]]:
    """Return the runs of each seed, in the order of the variants."""
    ordered = sorted(jobs, key=lambda job: job.number)
    return {seed: [job for job in ordered if job.seed == seed] for seed in plan.seed_numbers()}


def _match(plan: Plan, one: Job, other: Job, table: Table, console: Console) -> list[float]:
    """Return the scores of the first of two runs, pairs adjacent."""
    label = f"seed {one.seed}: {one.variant.name} - {other.variant.name}"
    first, second = table.seat(one, other)
    with console.phase(label[:40], plan.match_games) as phase:
        return contest(
            first.game,
            (first, second),
            plan.match_games,
            seed=one.seed,
            opening_plies=plan.opening_plies,
            report=lambda done: phase.update(done),
        )


def _kept(plan: Plan, job: Job, who: Oracle, found: list[Any]) -> dict[str, Any]:
    """Return which moves keep the value, "1" or "0" a position; and by the network alone, of several versions.

    A search does not solve the endings that the solver of the positions knows (see `move_accuracy.without_solver`).
    """

    def hits(moves: list[int], some: list[Any]) -> str:
        return "".join(str(int(m in p.keeping)) for m, p in zip(moves, some, strict=True))

    with player_of(plan, job, {"endgame": 0} if who.endings else {}) as player:
        if not isinstance(player, Agent):
            return {"searched": hits(choose(player, found)[0], found)}
        facts: dict[str, Any] = {
            "searched": hits(choose(player, found, (plan.sims,))[plan.sims], found),
            "alone": hits(choose_alone(player, found), found),
        }
    return {**facts, "curve": _curve(plan, job, found[: CURVE[1]], hits)}


def _curve(plan: Plan, job: Job, some: list[Any], hits: Callable[[list[int], list[Any]], str]) -> list[list[float]]:
    """Return [minutes, share of value kept by the network alone] of versions of a run, evenly spread."""
    first = {line["version"]: line["total_seconds"] / 60 for line in reversed(job.metrics()) if "version" in line}
    versions = sorted(first)
    step = max(-(-len(versions) // CURVE[0]), 1)
    points = []
    for version in reversed(versions[::-1][::step]):
        agent = make_player(f"version{version}", games.make(plan.game), root=job.root, smallest=STEADY)
        moves = choose_alone(agent, some)  # type: ignore[arg-type]
        points.append([round(first[version], 4), hits(moves, some).count("1") / len(some)])
    return points
