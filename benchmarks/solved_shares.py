"""The share of solved positions whose value a network's move keeps, for scripts here that train; not run itself."""

from __future__ import annotations

from evaluation.move_accuracy import choose, choose_alone, measure, value_error
from evaluation.solved_positions import Solved
from initialise import Session

POSITIONS = 3000


def measured(session: Session, found: list[Solved], bands: tuple[int, ...]) -> dict[str, float]:
    """Return the share of positions whose value is kept, in percent; `late`: by a search of 400 in the last stage.

    `value error`: mean distance of the value head from the exact values, in hundredths.
    """
    agent = session.agent(session.current_version, sims=400)
    shares = {"network": measure(choose_alone(agent, found), found, bands).kept.share}
    for sims, chosen in choose(agent, found, (100, 400)).items():
        result = measure(chosen, found, bands)
        shares[f"{sims} simulations"] = result.kept.share
    shares["late"] = result.stages[-1][1].share
    percent = {name: 100 * (share or 0.0) for name, share in shares.items()}
    return {**percent, "value error": 100 * value_error(agent, found).mean_absolute_error}
