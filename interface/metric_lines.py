"""Numbers from the lines of metrics.jsonl, for all code that draws curves."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from config import UserError
from loggers import METRICS, read_metrics, written_again
from storage.run_store import Store

_LOGGER = logging.getLogger("alphazero.metric_lines")
MetricsLine = dict[str, Any]
"""A line of metrics.jsonl."""


def lines_of(folder: Path) -> list[MetricsLine]:
    """Return the lines of a run's metrics.jsonl; say so where they are none, or lack what run.db has."""
    path, finished = folder / METRICS, list[MetricsLine]()
    with suppress(UserError):  # without run.db the lines are all there is
        store = Store(folder / "run.db", read_only=True)
        try:
            finished = store.lines()
        finally:
            store.close()
    lines = read_metrics(path)
    kept = {line["iteration"]: json.dumps(line) for line in lines}
    missing = sum(kept.get(line.get("iteration", 0)) != json.dumps(line) for line in finished)
    if missing:
        lacks = f"lacks {missing} of {len(finished)} iterations, or parts of them"
        _LOGGER.warning("%s %s%s", path, lacks, written_again(path))
    elif not lines:
        _LOGGER.warning("%s: no iteration is finished yet, so there is nothing to show", folder.name)
    return lines


def finite(lines: Sequence[MetricsLine], key: str) -> list[MetricsLine]:
    """Return the lines that have a finite number under a key."""
    return [
        m for m in lines
        if isinstance(m.get(key), int | float) and not isinstance(m[key], bool) and math.isfinite(m[key])
    ]  # fmt: skip


def searched_sims(lines: Sequence[MetricsLine]) -> Any:
    """Return the simulations of the scoreboard's search in the last line that has them; None if no line has."""
    return next((m["score_sims"] for m in reversed(lines) if "score_sims" in m), None)
