"""Networks whose numbers are not finite: none is saved, and one that was is trained again at half the learning rate.

Losses and weights can be finite while the answers overflow, so a new network answers a batch before it is saved. Play
may still meet a position that shows it: the run then steps back to before that network's training.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import numpy as np

from config import UserError
from initialise import Session
from search.evaluation_cache import NotFinite
from storage import checkpoints

KEY = "stepped_back"
"""Where the store keeps "iteration times": how often the run has stepped back to before that iteration's training."""
MOST = 3
"""So many times the same training is done again; then a person has to choose another rate."""


class Diverged(UserError):
    """Training gave numbers that are not finite, also at half the learning rate; none of its results were kept."""

    exit_code = 4


class SteppedBack(Exception):
    """The run is back before the training of a network that does not answer with numbers."""


def require_finite_answers(session: Session, planes: np.ndarray) -> None:
    """Raise `NotFinite` unless the network in training answers planes [B, rows, columns, planes] with numbers."""
    if not all(np.isfinite(answer).all() for answer in session.answers(planes)):
        raise NotFinite("the new network's answers are not finite numbers")


def rate_shares(session: Session) -> tuple[float, float]:
    """Return the fractions of the learning rate at which this iteration's training is tried, one after the other."""
    first = 0.5 ** _times(session, session.iteration)
    return first, first / 2


@contextmanager
def stepping_back(session: Session) -> Iterator[None]:
    """Step back from the newest network when the block finds that its answers are not finite; raise `SteppedBack`."""
    try:
        yield
    except NotFinite as error:
        _step_back(session, error)


def _step_back(session: Session, error: NotFinite) -> NoReturn:
    s, newest = session, session.store.newest()
    times = _times(s, newest.iteration) + 1
    if not newest.version or times > MOST:
        forget_steps_back(s)
        raise Diverged(f"version {newest.version}: {error}; resume with a smaller --learning-rate") from None
    checkpoints.set_aside(s.store, checkpoints.files_of(newest))
    with s.store.transaction("mend"):
        s.store.step_back(newest.iteration)
        s.store.put(KEY, f"{newest.iteration} {times}")
    s.reload()
    s.warn(f"version {newest.version}: {error}; it is trained again at a smaller learning rate")
    raise SteppedBack from None


def forget_steps_back(session: Session) -> None:
    """Let the next training begin at the full rate: a person has to choose it now."""
    with session.store.transaction("mend"):
        session.store.put(KEY, "")


def _times(session: Session, iteration: int) -> int:
    number, _, times = (session.store.get(KEY) or "").partition(" ")
    return int(times) if number == str(iteration) else 0
