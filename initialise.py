"""`Session`: one run on disk and in memory; start a new one, go on with one, or begin from another run's work.

run/<game>/runNNNN/ holds config.json, run.db, models/, logs/, metrics.jsonl: all that is needed to go on.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

import games
from agent import Agent, Player, User
from config import Config, UserError, differences, is_fixed, to_json
from game import Game
from games.own import digest
from loggers import Console, Loggers, close_log, open_loggers, write_metrics
from memory import Memory
from pool import Here, Order, Pool
from runs import RUN, RUNS, find_run, game_folder, network_facts, read_config, read_file, read_weights
from selfplay import GameRecord
from storage import DamagedData, Store, arrays_from_bytes, arrays_to_bytes, sha256, sweep, write_file


class RunBusy(UserError):
    """Another process works on the run."""

    exit_code = 3


class Session:
    """A run in work. Make one with `Session.start`, `Session.open`; close it or use it in a `with`."""

    def __init__(
        self, folder: Path, config: Config, store: Store, lock: Any, *, console: Console, log_mcts: bool = False
    ) -> None:
        self.folder, self.config, self.store, self.console = folder, config, store, console
        self._lock = lock
        self.game: Game = games.make(config.game)
        self.loggers: Loggers = open_loggers(folder / "logs", mcts=log_mcts)
        self.memory = Memory(self.game, config.memory_size)
        self._model: Any = None
        self._selfplay: Any = None
        self._pool: Pool | None = None
        self._predictors: dict[str, Any] = {}
        self._loaded: dict[str, int] = {}
        self.raw_rate = 0.0
        self.remembered = 0
        """Iteration whose games came into ltmemory last."""

    # ---- beginnings

    @classmethod
    def start(
        cls,
        config: Config,
        *,
        root: Path | None = None,
        console: Console | None = None,
        log_mcts: bool = False,
        INITIAL_RUN_NUMBER: int | None = None,
        INITIAL_MODEL_VERSION: int | None = None,
        INITIAL_MEMORY_VERSION: int | None = None,
    ) -> Session:
        """Start a new run; with INITIAL_RUN_NUMBER from that run's model and memory, as far as versions are given."""
        game = games.make(config.game)
        source = None
        if INITIAL_RUN_NUMBER is not None:
            source = find_run(game.spec, INITIAL_RUN_NUMBER, root)
        elif INITIAL_MODEL_VERSION is not None or INITIAL_MEMORY_VERSION is not None:
            raise UserError("expected initial_run_number beside a model or memory version, got none")
        folder = _next_folder((root or RUNS) / game_folder(game.spec))
        model, weights, memory = _from_run(config, game, source, INITIAL_MODEL_VERSION, INITIAL_MEMORY_VERSION)
        (folder / "models").mkdir(mode=0o700, parents=True)
        lock = _lock(folder)
        store = Store(folder / "run.db", create=True)
        session = cls(folder, config, store, lock, console=console or Console(), log_mcts=log_mcts)
        session._model = model
        if weights is not None:
            session.model.set_weights(weights)
        with store.transaction():
            store.put("run", f"{game.spec}/{config.seed}")
            store.put("game", game.spec)
            store.put("rules", digest(game))
            store.put("model", json.dumps(network_facts(config, game)))
            store.put("best", "0")
            store.add_games(0, 0, memory)
            session.save_version(0, 0, {})
        write_file(folder / "config.json", to_json(config).encode())
        session._load_memory()
        session.loggers.main.info("started %s", folder.name)
        try:
            session.model.draw(str(folder / "network.png"))
        except UserError as error:
            session.loggers.model.info("%s", error)
        return session

    @classmethod
    def open(
        cls, folder: Path, config: Config | None = None, *, console: Console | None = None, log_mcts: bool = False
    ) -> Session:
        """Go on with a run, with changed settings if given; raise `UserError` when one of them cannot change."""
        console = console or Console()
        old = read_config(folder)
        changes = differences(old, config) if config else {}
        refused = {n: pair for n, pair in changes.items() if is_fixed(n)}
        if refused:
            told = "; ".join(f"{n}: the run has {a!r}, got {b!r}" for n, (a, b) in refused.items())
            raise UserError(f"{folder.name}: cannot change while a run lives (start one with --new): {told}")
        lock = _lock(folder)
        try:
            return cls._opened(folder, config or old, changes, lock, console, log_mcts)
        except sqlite3.Error as error:
            _unlock(lock)
            raise DamagedData(f"{folder / 'run.db'}: expected a run's database, got a damaged one ({error})") from None
        except BaseException:
            _unlock(lock)
            raise

    @classmethod
    def _opened(
        cls, folder: Path, config: Config, changes: dict[str, Any], lock: Any, console: Console, log_mcts: bool
    ) -> Session:
        store = Store(folder / "run.db")
        session = cls(folder, config, store, lock, console=console, log_mcts=log_mcts)
        session._load_memory()
        for name, (a, b) in changes.items():
            console.say(f"changed setting {name}: {a!r} -> {b!r}")
        for name, (a, b) in changes.items():
            session.loggers.main.info("changed setting %s: %r -> %r", name, a, b)
        if changes:
            write_file(folder / "config.json", to_json(session.config).encode())
        if store.get("rules", "") != digest(session.game):
            console.say("the rules have changed since this run began: its games and networks are of the old ones")
        if session.goes_on():
            store.put("finished", "no")
        sweep(folder / "models")
        sweep(folder)
        session.write_metrics()
        session.loggers.main.info("went on after iteration %d", store.iterations_done())
        return session

    def close(self) -> None:
        """End the workers, close the files and let others work on the run."""
        if self._pool is not None:
            self._pool.close()
        self.store.close()
        for log in self.loggers:
            close_log(log)
        _unlock(self._lock)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- state

    @property
    def iteration(self) -> int:
        """The iteration in work, from 1."""
        return self.store.iterations_done() + 1

    @property
    def current_version(self) -> int:
        return int(self.store.versions()[-1][0])

    @property
    def best_version(self) -> int:
        return self.store.best()

    @property
    def worked_seconds(self) -> float:
        """Working time of all finished iterations."""
        return float(self.store.get("seconds", "0") or 0)

    def goes_on(self) -> bool:
        """True while iterations and minutes are left."""
        limit = self.config.minutes * 60
        return self.iteration <= self.config.iterations and not (limit and self.worked_seconds >= limit)

    def progress(self) -> float:
        """Share of the run that is done, in [0, 1]: what the learning-rate schedule follows."""
        share = (self.iteration - 1) / self.config.iterations
        if self.config.minutes:
            share = max(share, self.worked_seconds / (60 * self.config.minutes))
        return min(share, 1.0)

    def learning_rate(self, step: int) -> float:
        """Return the rate of a training step of this iteration."""
        c, p = self.config, self.progress()
        rate = c.learning_rate
        if c.learning_rate_schedule == "steps":
            rate *= 0.1 ** ((p >= 0.5) + (p >= 0.75))
        elif c.learning_rate_schedule == "cosine":
            rate *= 0.05 + 0.95 * 0.5 * (1 + float(np.cos(np.pi * p)))
        taken = int(self.store.get("steps", "0") or 0) + step
        return rate * min(1.0, (taken + 1) / c.warmup_steps) if c.warmup_steps else rate

    # ---- networks

    @property
    def model(self) -> Any:
        """The network in training, built when first needed; it holds the newest version's weights."""
        if self._model is None:
            self._model = _build(self.config, self.game)
            versions = self.store.versions()
            if versions:
                self.restore()
        return self._model

    def restore(self) -> None:
        """Put the newest version's weights and optimizer into the network."""
        version = self.current_version
        self._model.set_weights(self.weights(version))
        optimizer = self.folder / "models" / f"optimizer{version:04}.npz"
        shapes = [a.shape for a in self._model.get_optimizer()]
        data = read_file(optimizer)
        if sha256(data) != self.store.get("optimizer_sha256"):
            raise DamagedData(f"{optimizer}: expected the file that the run wrote, got another")
        self._model.set_optimizer(arrays_from_bytes(data, shapes, str(optimizer)))

    def weights(self, version: int) -> list[np.ndarray]:
        """Return the weights of a version, checked against what the run wrote."""
        return read_weights(self.folder, self.store, version, [w.shape for w in self.model.get_weights()])

    def save_version(self, version: int, iteration: int, losses: dict[str, float]) -> None:
        """Write the network as a version; call it inside the transaction that makes it known."""
        models = self.folder / "models"
        data = arrays_to_bytes(self.model.get_weights())
        file = f"version{version:04}.npz"
        write_file(models / file, data)
        state = arrays_to_bytes(self.model.get_optimizer())
        write_file(models / f"optimizer{version:04}.npz", state)
        self.store.put("optimizer_sha256", sha256(state))
        self.store.add_version(version, iteration, file, sha256(data), losses)

    def drop_old_optimizers(self) -> None:
        """Keep the newest optimizer's state only: it is needed to go on, and it is twice as large as a model."""
        for path in (self.folder / "models").glob("optimizer*.npz"):
            if path.name != f"optimizer{self.current_version:04}.npz":
                path.unlink(missing_ok=True)

    def predictor(self, role: str, version: int) -> Any:
        """Return the predictor of a role ("selfplay", "current", "best", ...) with a version's weights."""
        from backends import STEADY, cores, make_predictor

        if role not in self._predictors:
            streams = cores() if role == "selfplay" else 1
            smallest = STEADY if role in ("selfplay", "current", "best") else 1
            self._predictors[role] = make_predictor(
                self.model, backend=self.config.backend, streams=streams, smallest=smallest
            )
            self._loaded[role] = -1
        if self._loaded[role] != version:
            self._predictors[role].load(self.weights(version))
            self._loaded[role] = version
        return self._predictors[role]

    @property
    def selfplay(self) -> Any:
        """The games in flight, allocated when first needed."""
        from backends import cores
        from selfplay import SelfPlay

        if self._selfplay is None:
            self._selfplay = SelfPlay(self.game, self.config, threads=cores())
        return self._selfplay

    @property
    def pool(self) -> Pool:
        """Who plays the games of self-play: workers, or this process."""
        if self._pool is None:
            if self.config.workers:
                from workers import process_crew

                self._pool = process_crew(self.config, self.loggers.main.warning)
            else:
                self._pool = Here(self.selfplay, lambda version: self.predictor("selfplay", version))
        return self._pool

    def order(self, version: int) -> Order:
        """Return what all games of this iteration have in common."""
        file, digest = next((file, digest) for v, _, file, digest in self.store.versions() if v == version)
        path = (self.folder / "models" / file).resolve()
        return Order(self.store.get("run") or "", self.iteration, version, str(path), digest)

    def agent(self, version: int, *, name: str = "", role: str = "", sims: int = 0, **options: Any) -> Agent:
        """Return a player with a version's network and the run's search settings."""
        c = self.config
        settings = {"cpuct": c.cpuct, "fpu_reduction": c.fpu_reduction, "mcts_sims": sims or c.eval_sims, **options}
        predictor = self.predictor(role or f"version{version}", version)
        return Agent(name or f"version{version:04}", self.game, predictor, model=self.model,
                     logger_mcts=self.loggers.mcts, **settings)  # fmt: skip

    def version_player(self, version: int, *, run: int | None = None, name: str = "") -> Player:
        """Return a version of this run as a player, a person for -1."""
        if version == -1:
            return User(name or "person", self.game)
        if run is not None and f"run{run:04}" != self.folder.name:
            raise UserError(f"expected versions of {self.folder.name}, got run{run:04}")
        return self.agent(version, name=name)

    # ---- memory and metrics

    def _load_memory(self) -> None:
        """Fill ltmemory from the games on disk, up to the last finished retraining."""
        records = (
            GameRecord(idx, moves, visits, values, result)
            for _, idx, result, moves, visits, values in self.store.games(self.config.memory_size, self.iteration)
        )
        count = self.memory.extend(records)
        self.remembered = self.iteration - 1
        self.loggers.memory.info("loaded %d positions, %d in ltmemory", count, len(self.memory))

    def write_metrics(self) -> None:
        """Bring metrics.jsonl up to what run.db says."""
        lines = [self.store.finished(i)["iteration"] for i in range(1, self.iteration)]
        write_metrics(self.folder / "metrics.jsonl", lines)


def _next_folder(folder: Path) -> Path:
    """Return the folder of a run to come; a start that was killed half-way keeps its number."""
    taken = [int(p.name[3:]) for p in folder.iterdir() if RUN.match(p.name)] if folder.is_dir() else []
    return folder / f"run{max(taken, default=0) + 1:04}"


def _build(config: Config, game: Game) -> Any:
    from model import Residual_CNN

    return Residual_CNN(config, game)


def _from_run(
    config: Config, game: Game, source: Path | None, model_version: int | None, memory_version: int | None
) -> tuple[Any, list[np.ndarray] | None, list[GameRecord]]:
    """Return (network, weights, games) to begin with, read from another run before anything is written."""
    model = _build(config, game)
    if source is None:
        return model, None, []
    store = Store(source / "run.db", read_only=True)
    try:
        weights, memory = None, []
        if model_version is not None:
            theirs = json.loads(store.get("model") or "{}")
            ours = json.loads(json.dumps(network_facts(config, game)))
            unlike = [n for n in ours if theirs.get(n) != ours[n]]
            if unlike:
                told = "; ".join(f"{n}: {ours[n]} expected, {theirs.get(n)} came" for n in unlike)
                raise UserError(f"{source.name} has another network: {told}")
            weights = read_weights(source, store, model_version, [w.shape for w in model.get_weights()])
        if memory_version is not None:
            rows = store.games(config.memory_size, memory_version + 1)
            memory = [GameRecord(i, moves, visits, values, result)
                      for i, (_, _, result, moves, visits, values) in enumerate(rows)]  # fmt: skip
        return model, weights, memory
    finally:
        store.close()


def _unlock(file: Any) -> None:
    """Let go of a run, whoever else has the file open: a forked process has."""
    if not file.closed:
        fcntl.flock(file, fcntl.LOCK_UN)
        file.close()


def _lock(folder: Path) -> Any:
    """Hold the run for this process; raise `RunBusy` naming who has it. A killed process lets go by itself."""
    file = open(folder / "lock", "a+")  # noqa: SIM115
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        owner = file.read().strip() or "another process"
        file.close()
        raise RunBusy(f"{folder.name} is in use by process {owner}; stop it or start another with --new") from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


