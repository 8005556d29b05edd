"""Numbers from the lines of metrics.jsonl, for all code that draws curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

MetricsLine = dict[str, Any]
"""A line of metrics.jsonl."""


def finite(lines: Sequence[MetricsLine], key: str) -> list[MetricsLine]:
    """Return the lines that have a finite number under a key."""
    return [
        m for m in lines
        if isinstance(m.get(key), int | float) and not isinstance(m[key], bool) and math.isfinite(m[key])
    ]  # fmt: skip


def searched_sims(lines: Sequence[MetricsLine]) -> Any:
    """Return the simulations of the scoreboard's search in the last line that has them; None if no line has."""
    return next((m["score_sims"] for m in reversed(lines) if "score_sims" in m), None)
