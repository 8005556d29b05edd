"""Mirrors the lines of metrics.jsonl into a tracker as they come: `--track tensorboard`. The truth stays in run.db."""

from __future__ import annotations

import importlib.util
import math
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from config import UserError
from system.shell import quoted

if TYPE_CHECKING:
    from initialise import Session


@dataclass(frozen=True)
class Tracked:
    """Options of `train`."""

    track: Literal["", "tensorboard"] = ""
    """Mirror each iteration's numbers into TensorBoard's event files, in the folder tensorboard/ of the runs."""

    def __post_init__(self) -> None:
        if self.track and importlib.util.find_spec("tensorboard") is None:
            raise UserError("--track tensorboard needs TensorBoard, which is not here: `pip install tensorboard`")

    @contextmanager
    def tracker(self, session: Session) -> Iterator[Callable[[dict[str, Any]], None] | None]:
        """Return what gets each iteration's line while the block lasts; None without a tracker."""
        if not self.track:
            yield None
            return
        place = session.folder.parents[1] / "tensorboard" / session.folder.parent.name / session.folder.name
        writer = _writer(place)
        session.console.say(f"  the curves: `tensorboard --logdir {quoted(str(place.parents[1]))}`")
        try:
            for line in session.store.lines():
                _add(writer, line)
            yield lambda line: _add(writer, line)
        finally:
            writer.close()


def _writer(place: Path) -> Any:
    """Return a writer of events into a folder, which loses those of an earlier start: all lines are written again."""
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    shutil.rmtree(place, ignore_errors=True)
    return EventFileWriter(str(place))


def _add(writer: Any, line: dict[str, Any]) -> None:
    """Write the numbers of an iteration, named by their stage: "retrain/loss"."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

    numbers = {
        name: float(value)
        for name, value in line.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }
    values = [Summary.Value(tag=_tag(name), simple_value=number) for name, number in numbers.items()]
    writer.add_event(Event(step=line["iteration"], wall_time=line["total_seconds"], summary=Summary(value=values)))
    writer.flush()


def _tag(name: str) -> str:
    for stage in ("self_play", "retrain", "tournament", "score", "reanalyse"):
        if name.startswith(f"{stage}_"):
            return f"{stage}/{name.removeprefix(f'{stage}_')}"
    return f"run/{name}"
