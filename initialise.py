"""`Session`: one run on disk and in memory; starts a run, resumes one, or begins from another run's work.

run/<game>/runNNNN/ holds config.json, run.db, models/, logs/, metrics.jsonl: all that is needed to resume.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import games
from agent import Agent, Player, User
from config import Config, UserError, to_json, with_overrides
from game import Game
from games.sizes import other_sizes
from loggers import METRICS, Console, Loggers, close_loggers, open_loggers, write_metrics
from memory import Memory
from network.own_network import full_name, lies_elsewhere, remember
from network.predictor import STEADY, on_device, side_by_side
from network.stored_network import BEGAN_WITH, record
from network.warm_start import taken_over
from search.trace import SearchLog
from storage import checkpoints, opening
from storage.atomic_files import DamagedData, require_space
from storage.game_record import GameRecord
from storage.position_data import fill
from storage.run_files import RunFiles
from storage.run_folders import (
    RUNS,
    find_run,
    game_folder,
    game_of,
    lock_folder,
    lock_new_folder,
    read_config,
    with_remedy,
)
from storage.run_store import Store, evaluations_made
from storage.verify import require_games_by_rules, rules_changed

RESERVE = 64 << 20
"""Bytes that must be free in addition to two versions of the network."""


class Stopped(Exception):
    """A stop of the work was requested; what is finished is on the disk."""


class Closable(Protocol):
    """What uses a session's networks, and must end before they change."""

    def close(self) -> None: ...


class Session:
    """A run in progress. Make one with `Session.start`, `Session.open`; close it or use it in a `with`."""

    def __init__(self, folder: Path, config: Config, store: Store, *, console: Console, log_mcts: bool = False) -> None:
        self.folder, self.config, self.store, self.console = folder, config, store, console
        self.requested = config
        """The settings from the next iteration on; `config` is the present one's."""
        self.game: Game = games.make(config.game)
        self.loggers: Loggers = open_loggers(store.files, mcts=log_mcts)
        self.memory = Memory.of_run(config, self.game)
        self._model: Any = None
        self.work: Closable | None = None
        """What trains the run (training/work.py); closed with the session, and when its networks or settings change."""
        self._predictors: dict[tuple[str, str], Any] = {}
        self._loaded: dict[tuple[str, str], int] = {}
        self._written = 0, 0  # bytes of metrics.jsonl, and the iteration of its last line

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
        INITIAL_GAME: str = "",
        INITIAL_MODEL_VERSION: int | None = None,
        INITIAL_MEMORY_VERSION: int | None = None,
    ) -> Session:
        """Start a new run; with INITIAL_RUN_NUMBER it takes over its network, games or both: those with a version.

        INITIAL_GAME: the game of that run if its rules are others; then only its network can be taken over.
        """
        game = games.make(config.game)
        wanted = INITIAL_MODEL_VERSION, INITIAL_MEMORY_VERSION
        theirs = games.make(INITIAL_GAME).spec if INITIAL_GAME else game.spec
        source = None if INITIAL_RUN_NUMBER is None else find_run(theirs, INITIAL_RUN_NUMBER, root)
        if (source is None) != (wanted == (None, None)) or (INITIAL_GAME and source is None):
            raise UserError("expected initial_run_number and a version of its model or memory, got only one of them")
        if config.network is not None:
            config = with_overrides(config, network=full_name(config.network))
        model = _build(config, game)
        weights, memory = taken_over(config, game, model, _build, source, *wanted)
        from network.choose_predictor import require_precision

        require_precision(config)
        files = lock_new_folder((root or RUNS) / game_folder(game.spec))
        if config.network is not None:
            remember(config.network)
        taken = f"version {INITIAL_MODEL_VERSION} of {source.name} of {theirs}" if source and weights else ""
        options = {"console": console or Console(), "log_mcts": log_mcts}
        session = cls._created(files, config, model, weights, memory, taken, **options)
        session.loggers.main.info("started %s", session.folder.name)
        try:
            session.store.files.write("network.png", session.model.drawing())
        except UserError as error:
            session.loggers.model.info("%s", error)
        return session

    @classmethod
    def _created(
        cls,
        files: RunFiles,
        config: Config,
        model: Any,
        weights: list[np.ndarray] | None,
        memory: list[GameRecord],
        taken: str,
        **options: Any,
    ) -> Session:
        """Create the files of a run in its new folder; remove the folder when that fails."""
        folder, store = files.folder, None
        try:
            require_space(folder, 2 * sum(w.nbytes for w in model.get_weights()) + RESERVE)
            store = Store(folder / "run.db", create=True, files=files)
            session = cls(folder, config, store, **options)
            session._model = model
            session._begin(weights, memory, taken)
            session._load_memory()
        except BaseException:  # no part of it has been acknowledged
            if store is not None:
                store.close()
            files.remove_all()
            files.close()
            raise
        return session

    def _begin(self, weights: list[np.ndarray] | None, memory: list[GameRecord], taken: str) -> None:
        """Write the first version, settings and initial games of a run; `taken`: whose network it takes over."""
        begun = self.model.get_weights()
        if weights is not None:
            self.model.set_weights(weights)
        with self.store.transaction("start"):
            opening.write_first_rows(self.store, self.game, self.config, memory)
            self.save_version(0, 0, {})
            if taken:
                self.store.put(BEGAN_WITH, taken)
        record(self.store, self.model, begun)
        self._write_config()
        self.store.checkpoint()

    @classmethod
    def open(
        cls, folder: Path, config: Config | None = None, *, console: Console | None = None, log_mcts: bool = False
    ) -> Session:
        """Resume a run, with changed settings if given; raise `UserError` when one of them cannot change."""
        requested = config or read_config(folder)
        game_of(folder, requested)
        files, store = lock_folder(folder), None
        try:
            store = Store(folder / "run.db", files=files)
            return cls._opened(folder, requested, store, console or Console(), log_mcts)
        except BaseException as error:
            if store is not None:
                store.close()
            files.close()
            if isinstance(error, DamagedData):
                raise with_remedy(error, folder) from None
            raise

    @classmethod
    def _opened(cls, folder: Path, requested: Config, store: Store, console: Console, log_mcts: bool) -> Session:
        """Check and repair a run, and continue it with these settings."""
        opening.require_consistent(store)
        store.start_tally()
        changes = opening.changes_of(folder, store, requested, may_differ=_may_differ)
        if repaired := checkpoints.mend(folder, store):
            console.warn(repaired)
        config = with_overrides(requested, **opening.counting_later(store, changes))
        session = cls(folder, config, store, console=console, log_mcts=log_mcts)
        session.requested = requested
        if session.rules_changed:
            require_games_by_rules(store, session.game, folder.name)
        session._load_memory()
        if repaired:
            session.loggers.main.warning("%s", repaired)
        session._take_over(changes)
        store.files.sweep()
        session.write_metrics()
        session.loggers.main.info("resumed after iteration %d", store.iterations_done())
        return session

    def _take_over(self, changes: opening.Changes) -> None:
        """Say and store what differs from the run as it was left."""
        from network.choose_predictor import require_precision

        require_precision(self.config)
        store = self.store
        for line in opening.in_words(store, changes):
            self.warn(line, logging.INFO)
        self._write_config()
        if store.lost:
            self.warn(store.loss())
        if self.rules_changed:
            self.warn("the rules have changed since this run began: its games and networks are of the old ones")
        finished = "no" if self.is_unfinished() else "yes"
        if changes.unstored or store.lost or not store.read_mark() or store.get("finished") != finished:
            with store.transaction("open"):
                store.put("config", to_json(self.config))
                store.put("game", self.game.spec)
                store.put("finished", finished)

    def warn(self, text: str, level: int = logging.WARNING) -> None:
        """Show a warning at the console and write it to the log."""
        self.console.warn(text)
        self.loggers.main.log(level, "%s", text)

    def close(self) -> None:
        """End the workers, close the files and unlock the run."""
        self._end_work()
        self.store.close()
        close_loggers(self.loggers)
        self.store.files.close()

    def _end_work(self) -> None:
        if self.work is not None:
            self.work.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if isinstance(error, UserError):
                self.store.files.require_place()  # what is wrong may be a file of another run
            if isinstance(error, DamagedData):
                raise with_remedy(error, self.folder) from None
        finally:
            self.close()

    # ---- state

    @property
    def rules_changed(self) -> bool:
        """Whether your own game has other files than when the run began."""
        return rules_changed(self.store, self.game)

    @property
    def iteration(self) -> int:
        """The iteration in progress, from 1."""
        return self.store.iterations_done() + 1

    @property
    def current_version(self) -> int:
        return self.store.newest().version

    @property
    def best_version(self) -> int:
        return self.store.best()

    @property
    def worked_seconds(self) -> float:
        """Working time of all finished iterations."""
        return float(self.store.get("seconds", "0") or 0)

    def evaluations(self, iteration: int) -> float:
        """Return the evaluations of self-play and reanalysis up to an iteration: the one in progress or the last
        finished one."""
        found = float(self.store.get("evaluations", "0") or 0)
        return found + (evaluations_made(self.store.finished(iteration)) if iteration == self.iteration else 0)

    def ends(self, iteration: int, seconds: float) -> bool:
        """Return whether the run ends with an iteration whose tournament was due after `seconds` of work in all.

        Limits that were changed while it is in progress are those in force when it ends.
        """
        c = self.requested if iteration == self.iteration else self.config
        return (
            iteration >= c.iterations
            or 0 < c.minutes * 60 <= seconds
            or 0 < c.evaluations <= self.evaluations(iteration)
        )

    def is_unfinished(self) -> bool:
        """Return whether iterations are left: the last one ends with its tournament and scoreboard."""
        done = self.iteration - 1
        tournament = self.store.finished(done).get("tournament", {})
        return not self.ends(done, tournament.get("at_seconds", self.worked_seconds))

    # ---- networks

    @property
    def model(self) -> Any:
        """The network in training, built when first needed; it holds the newest version's weights."""
        if self._model is None:
            begun = (model := _build(self.config, self.game, typed=False)).get_weights()
            if repaired := checkpoints.renew(self.folder, self.store, begun, model.get_optimizer()):
                self.warn(repaired)
            self._restore(model)
            record(self.store, model, begun)
            self._model = model  # only now: a network that could not be restored is not used
        return self._model

    def restore(self) -> None:
        """Put the newest version's weights and optimizer into the network."""
        model, self._model = self.model, None  # interrupted in between, it is built again
        self._restore(model)
        self._model = model

    def _restore(self, model: Any) -> None:
        newest = self.store.newest()
        model.set_weights(self.weights(newest.version, model))
        model.set_optimizer(checkpoints.read_optimizer(self.folder, newest, model.optimizer_layouts()))

    def weights(self, version: int, model: Any = None) -> list[np.ndarray]:
        """Return a version's weights, checked to be those that the run wrote; `model`: if not this run's own."""
        return checkpoints.read_weights(self.folder, self.store, version, (model or self.model).shapes)

    def save_version(self, version: int, iteration: int, losses: dict[str, float]) -> None:
        """Write the network as a version; call it inside the transaction that registers it."""
        arrays = self.model.get_weights(), self.model.get_optimizer()
        checkpoints.save(self.store, version, iteration, losses, *arrays)

    def check_space(self) -> None:
        """Raise `Unwritable` when the disk has no room for an iteration: two versions of the network and RESERVE."""
        self.store.reserve = 2 * checkpoints.size(self.folder, self.store.newest()) + RESERVE
        require_space(self.folder, self.store.reserve)

    def predictor(self, role: str, version: int, board: Game | None = None) -> Any:
        """Return the predictor of a role ("selfplay", "best", ...) with a version's weights; `board`: a size's game."""
        from network.choose_predictor import make_predictor, on_board

        if (key := (role, "" if board is None else board.spec)) not in self._predictors:
            streams = side_by_side(self.game, self.config.selfplay)[1] if role == "selfplay" else 1
            smallest = STEADY if role in ("selfplay", "current", "best") else 1
            model = self.model
            if board is not None:
                model = on_board(self.model, board, self.weights(version), self.config.backend)
            in_8_bits = role == "selfplay" and self.config.precision == "int8"
            made = make_predictor(
                model, backend=self.config.backend, streams=streams, smallest=smallest, in_8_bits=in_8_bits
            )
            kept = {k: p for k, p in self._predictors.items() if k[0] != role or on_device(p)}  # GPUs compile slowly
            self._predictors, self._loaded[key] = {**kept, key: made}, -1
        if self._loaded[key] != version:
            self._predictors[key].load(self.weights(version))
            self._loaded[key] = version
        return self._predictors[key]

    def answers(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what play would get from the network in training, not yet saved: (values [B], logits [B, actions])."""
        predictor = self.predictor("current", self.current_version)
        predictor.load(self.model.get_weights())
        self._loaded["current", ""] = -1
        return predictor(planes[..., : self.game.input_shape[2]])

    def agent(self, version: int, *, name: str = "", role: str = "", sims: int = 0, log: bool = False) -> Agent:
        """Return a player with a version's network and the run's search settings; `log`: its searches, if logged."""
        return Agent(
            name or f"version{version:04}",
            self.game,
            self.predictor(role or f"version{version}", version),
            self.config.search,
            mcts_sims=sims or self.config.eval_sims,
            model=self.model,
            observer=SearchLog(self.loggers.mcts) if log and self.loggers.mcts else None,
        )

    def version_player(self, version: int, *, run: int | None = None, name: str = "") -> Player:
        """Return a version of this run as a player; -1 is a person."""
        if version == -1:
            return User(name or "person", self.game)
        if run is not None and f"run{run:04}" != self.folder.name:
            raise UserError(f"expected versions of {self.folder.name}, got run{run:04}")
        return self.agent(version, name=name)

    # ---- memory and metrics

    def _load_memory(self) -> None:
        """Fill a new ltmemory from the games on disk, up to the last finished retraining."""
        self.memory = Memory.of_run(self.config, self.game)
        found = self.store.games(self.config.memory_size, self.iteration, self.game.sizes)
        count = fill(self.memory, found, self.game, self.store)
        self.memory.until = self.iteration - 1
        self.loggers.memory.info("loaded %d positions, %d in ltmemory", count, len(self.memory))

    def write_metrics(self) -> None:
        """Bring metrics.jsonl up to date with run.db; lines that this session has written are not written again."""
        path, (size, last) = self.folder / METRICS, self._written
        if not path.exists() or path.stat().st_size != size:
            size = last = 0
        added = self.store.lines(last)
        self._written = write_metrics(self.store.files, added, size), added[-1]["iteration"] if added else last

    def _write_config(self) -> None:
        self.store.files.write("config.json", to_json(self.requested).encode(), point="config", needed=4096)

    def take_settings(self) -> None:
        """Apply the settings that were changed during an iteration; call it inside the transaction that ends it."""
        if self.config == self.requested:
            return
        self.config = self.requested
        self.store.put("config", to_json(self.config))
        self._drop_networks()
        if self.game.sizes and self.game.spec != self.config.game:
            self.game = games.make(self.config.game)
            self.store.put("game", self.game.spec)
            self._load_memory()
        self.loggers.main.info("the changed settings count from iteration %d on", self.iteration)

    def _drop_networks(self) -> None:
        """Close what plays and predicts; it is made again when next needed."""
        self._end_work()
        self._model = None
        self._predictors.clear()

    def reload(self) -> None:
        """Read networks, memory and metrics again, after the run has stepped back."""
        self._drop_networks()
        self._load_memory()
        self._written = 0, 0


def _may_differ(name: str, old: Any, new: Any) -> bool:
    """Return whether a fixed setting may change so: to other sizes of the game, or where the network's file lies."""
    return other_sizes(name, old, new) or name == "network" and lies_elsewhere(old, new)


def _build(config: Config, game: Game, *, typed: bool = True) -> Any:
    from model import make_network

    return make_network(config, game, typed=typed)
