"""AlphaZero in Keras: the training loop `train`, and the program. `python main.py --help` lists the commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from initialise import Session


def train(
    session: Session,
    *,
    iterations: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    on_iteration: Callable[[dict[str, Any]], None] | None = None,
) -> list[dict[str, Any]]:
    """Repeat: self-play, retraining, the tournament against the best network, the scoreboard.

    Runs until the settings say that the run is finished, or for `iterations` more. It can be interrupted and called
    again safely. Returns the lines of metrics.jsonl that it added.
    """
    from initialise import Stopped
    from training import scoreboard, stages
    from training.divergence import SteppedBack
    from training.fit import fit_of_iteration
    from training.reanalysis import reanalyse
    from training.stage_bookkeeping import begin
    from training.stop_signals import heard

    lines: list[dict[str, Any]] = []
    with heard(stop) as stop:  # which Ctrl-C requests too
        while session.is_unfinished() and not stop() and (iterations is None or len(lines) < iterations):
            begin(session)
            try:
                with fit_of_iteration(session) as fit:  # with lag 1 it runs while the games are played
                    stages.play_self(session, stop, fit)
                    reanalyse(session, stop)  # in Connect 4's preset; off elsewhere
                    stages.retrain(session, stop, fit)
                stages.play_tournament(session, stop)
                scoreboard.score(session, stop)
            except Stopped:
                break
            except SteppedBack:  # the newest network answers with NaN: it is trained again
                continue
            lines.append(stages.finish_iteration(session))
            if on_iteration is not None:
                on_iteration(lines[-1])
    return lines


if __name__ == "__main__":
    import sys

    if sys.version_info < (3, 11):  # noqa: UP036 - such a Python is the default of some systems
        found = ".".join(map(str, sys.version_info[:3]))
        sys.stderr.write(f"error: expected Python 3.11 or later, got {found}; run this with a newer one\n")
        sys.exit(2)
    if sys.flags.safe_path:  # by -P or PYTHONSAFEPATH Python does not look beside this file
        from pathlib import Path

        sys.path.insert(0, str(Path(__file__).resolve().parent))
    from interface.start import command

    command()
