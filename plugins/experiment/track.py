"""Mirrors the lines of metrics.jsonl into a tracker as they come: `--track tensorboard`. The truth stays in run.db.

Each tracker keeps its files next to the runs, and nothing leaves the machine. A run that is resumed writes all of its
lines again, in the place of those of an earlier start.
"""

from __future__ import annotations

import importlib.util
import math
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from config import UserError
from system.shell import quoted

if TYPE_CHECKING:
    from initialise import Session

Add = Callable[[dict[str, float], int, float], None]
"""(numbers of an iteration by their names, its number, seconds of work so far) -> None"""


@dataclass(frozen=True)
class Tracked:
    """Options of `train`."""

    track: Literal["", "tensorboard", "mlflow", "wandb"] = ""
    """Mirror each iteration's numbers into TensorBoard's event files, MLflow's database, or a run of Weights & Biases
    without a network, in a folder of that name next to the runs."""

    def __post_init__(self) -> None:
        if self.track and importlib.util.find_spec(self.track) is None:
            name, package, *_ = TRACKERS[self.track]
            raise UserError(f"--track {self.track} needs {name}, which is not here: `pip install {package}`")

    @contextmanager
    def tracker(self, session: Session) -> Iterator[Callable[[dict[str, Any]], None] | None]:
        """Return what gets each iteration's line while the block lasts; None without a tracker."""
        if not self.track:
            yield None
            return
        from storage.run_folders import make_private

        place = session.folder.parents[1] / self.track
        make_private(place)
        *_, show, opened = TRACKERS[self.track]
        session.console.say("  the curves: " + show.format(quoted(str(place))))
        with opened(place, session.folder.parent.name, session.folder.name) as add:
            for line in session.store.lines():
                _write(add, line)
            yield lambda line: _write(add, line)


def _write(add: Add, line: dict[str, Any]) -> None:
    """Write the numbers of an iteration, named by their stage: "retrain/loss"."""
    numbers = {
        _tag(name): float(value)
        for name, value in line.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }
    add(numbers, line["iteration"], line["total_seconds"])


def _tag(name: str) -> str:
    for stage in ("self_play", "retrain", "tournament", "score", "reanalyse"):
        if name.startswith(f"{stage}_"):
            return f"{stage}/{name.removeprefix(f'{stage}_')}"
    return f"run/{name}"


@contextmanager
def _tensorboard(place: Path, game: str, run: str) -> Iterator[Add]:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    shutil.rmtree(place / game / run, ignore_errors=True)
    writer = EventFileWriter(str(place / game / run))

    def add(numbers: dict[str, float], step: int, seconds: float) -> None:
        values = [Summary.Value(tag=tag, simple_value=number) for tag, number in numbers.items()]
        writer.add_event(Event(step=step, wall_time=seconds, summary=Summary(value=values)))
        writer.flush()

    try:
        yield add
    finally:
        writer.close()


@contextmanager
def _mlflow(place: Path, game: str, run: str) -> Iterator[Add]:
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    from mlflow import MlflowClient
    from mlflow.entities import Metric

    client = MlflowClient(tracking_uri=f"sqlite:///{place}/mlflow.db")
    known = client.get_experiment_by_name(game)
    experiment = known.experiment_id if known else client.create_experiment(game)
    for earlier in client.search_runs([experiment], f"attributes.run_name = '{run}'"):
        client.delete_run(earlier.info.run_id)
    own = client.create_run(experiment, run_name=run).info.run_id

    def add(numbers: dict[str, float], step: int, seconds: float) -> None:
        client.log_batch(own, [Metric(tag, number, round(1000 * seconds), step) for tag, number in numbers.items()])

    try:
        yield add
    finally:
        client.set_terminated(own)


@contextmanager
def _wandb(place: Path, game: str, run: str) -> Iterator[Add]:
    import wandb

    from storage.run_folders import make_private

    shutil.rmtree(place / game / run, ignore_errors=True)
    make_private(place / game / run)
    quiet = wandb.Settings(silent=True, console="off", disable_git=True, x_disable_stats=True)
    own = wandb.init(project=game, name=run, dir=str(place / game / run), mode="offline", settings=quiet)
    try:
        yield lambda numbers, step, seconds: own.log(numbers, step=step)
    finally:
        own.finish()


TRACKERS: dict[str, tuple[str, str, str, Callable[[Path, str, str], AbstractContextManager[Add]]]] = {
    "tensorboard": ("TensorBoard", "tensorboard", "`tensorboard --logdir {}`", _tensorboard),
    "mlflow": ("MLflow", "mlflow", "`mlflow ui --backend-store-uri sqlite:///{}/mlflow.db`", _mlflow),
    "wandb": ("Weights & Biases", "wandb", "in {}; `wandb sync` sends a run where you want it", _wandb),
}
"""{tracker: (its name, its package, how its curves are seen, what opens it: (folder, game, run) -> context)}"""
