"""The trials of a sweep: Optuna proposes settings, an experiment's runs and games say what they are worth.

A trial trains with the seeds and the compute of the plan, then plays the base's run of the same seed; its value is the
mean Elo over the seeds. The base is trained once. Proposals and values are in sweep.journal in the folder, runs and
results as in an experiment: whatever is killed, the same command resumes it with the same proposals.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from config import TYPES, UserError
from loggers import Console
from plugins.experiment.folder import made_by, resumed
from plugins.experiment.measure import match_all
from plugins.experiment.plan import Variant
from plugins.experiment.runs import jobs, run_all
from plugins.experiment.statistics import Effect, effect, elo_of_seed
from plugins.sweep.space import Sweep
from storage.atomic_files import write_file, writing
from storage.run_folders import make_private
from system.reading import LINES_BYTES, TEXT_BYTES, read_limited

KEPT = "sweep.json"
JOURNAL = "sweep.journal"


class Trial(NamedTuple):
    """A point of the space, and what it is worth."""

    number: int
    settings: dict[str, Any]
    elo: Effect
    """Over the base."""


def require_optuna() -> Any:
    """Return Optuna; raise `UserError` if it is not installed."""
    try:
        import optuna
    except ImportError:
        raise UserError("sweep needs Optuna, which is not here: `pip install optuna`") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def begin(folder: Path, sweep: Sweep) -> list[str]:
    """Write the sweep into a new folder, or check that it is the folder's: more trials are the same sweep.

    Return in words what has changed since the last start: program, machine, code that is named.
    """
    make_private(folder)
    path, made = folder / KEPT, []
    if path.exists():
        kept = _read(path)
        made = kept.pop("made", [])
        if kept != json.loads(json.dumps(sweep.to_json())):
            raise UserError(f"{folder}: expected the sweep that began there, got another; -o names another folder")
    networks = sweep.space.get("network", [])
    variants = sweep.plan.base, *(Variant(network, {"network": network}) for network in networks)
    starts, changed = resumed(made, made_by(replace(sweep.plan, variants=variants)))
    if starts != made:
        write_file(path, json.dumps({**sweep.to_json(), "made": starts}, indent=1).encode())
    return changed


def _read(path: Path) -> dict[str, Any]:
    """Return what a file of a sweep holds, {} if it is damaged."""
    try:
        kept = json.loads(read_limited(path, TEXT_BYTES))
        fits = all(isinstance(facts, dict) for facts in kept.get("made", []))
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}
    return kept if fits else {}


def study_of(folder: Path) -> Any:
    """Return Optuna's study in a folder, a new one if there is none."""
    optuna = require_optuna()
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    path = folder / JOURNAL
    if path.exists():
        with writing(path), open(path, "rb+") as file:
            file.truncate(read_limited(path, LINES_BYTES).rfind(b"\n") + 1)  # a line that a kill has cut
    try:
        storage = JournalStorage(JournalFileBackend(str(path)))
        return optuna.create_study(study_name="sweep", storage=storage, load_if_exists=True, direction="maximize")
    except Exception as error:  # Optuna raises what it meets in a damaged file
        raise UserError(
            f"{path}: expected Optuna's journal of this sweep ({type(error).__name__}: "
            f"{ascii(str(error)[:80])}); -o names another folder"
        ) from None


def run_trials(sweep: Sweep, folder: Path, say: Callable[[str], None], console: Console) -> list[Trial]:
    """Make the trials that are missing; return all of them."""
    optuna = require_optuna()
    study, space = study_of(folder), _distributions(sweep.space)
    found: dict[int, Trial] = {}
    while True:
        known = study.get_trials(deepcopy=False)
        settings = {t.number: _settings(t.params) for t in known if set(t.params) == set(space)}
        at_work = [t.number for t in known if t.state == optuna.trial.TrialState.RUNNING]
        for number in at_work:
            if number not in settings:  # killed while it was proposed
                study.tell(number, state=optuna.trial.TrialState.FAIL)
        at_work = [number for number in at_work if number in settings]
        done = [t.number for t in known if t.state == optuna.trial.TrialState.COMPLETE]
        for number in done:
            if number not in found:
                found[number] = _tried(sweep, folder, settings, number, say, console)
        if at_work:
            number = at_work[0]
            say(f"trial {number}: " + ", ".join(f"{k}={v}" for k, v in settings[number].items()))
            found[number] = _tried(sweep, folder, settings, number, say, console)
            study.tell(number, found[number].elo.mean)
            say(f"  Elo {found[number].elo.mean:+.0f} over the base")
        elif len(done) < sweep.trials:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some samplers are experimental
                study.sampler = optuna.samplers.TPESampler(seed=sweep.plan.first_seed + len(known))
                study.ask(space)
        else:
            return [found[number] for number in sorted(found)]


def _tried(
    sweep: Sweep,
    folder: Path,
    settings: dict[int, dict[str, Any]],
    number: int,
    say: Callable[[str], None],
    console: Console,
) -> Trial:
    """Return a trial whose runs and games are made, now or before."""
    plan = sweep.with_trials(settings).with_whole_names()
    mine = [job for job in jobs(plan, folder) if job.number in (0, number + 1)]
    run_all(plan, mine, say)
    results = match_all(plan, mine, folder, console)
    of_seeds = [
        elo_of_seed([1 - score for score in r["scores"]])
        for r in results
        if r["kind"] == "match" and r["variants"] == [0, number + 1]
    ]
    return Trial(number, settings[number], effect([e for e, _ in of_seeds], [v for _, v in of_seeds]))


def _settings(params: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(v) if isinstance(v, str) and v[:1] in '"tf' else v for name, v in params.items()}


def _distributions(space: dict[str, Any]) -> dict[str, Any]:
    """Return Optuna's distribution of each setting; a list's values are kept as JSON."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    found: dict[str, Any] = {}
    for name, what in space.items():
        if isinstance(what, list):
            found[name] = CategoricalDistribution([v if type(v) in (int, float) else json.dumps(v) for v in what])
            continue
        kind = IntDistribution if TYPES[name] is int else FloatDistribution
        step = {"step": what["step"]} if "step" in what else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it says that the last step ends below `high`
            found[name] = kind(what["low"], what["high"], log=what.get("log", False), **step)
    return found


def importance(folder: Path) -> dict[str, float]:
    """Return {setting: share of what the trials differ by that it explains}, the largest first; {} if too few.

    PED-ANOVA (Watanabe, Bansal, Hutter 2023): how much the settings of the better trials differ from those of all.
    """
    optuna = require_optuna()
    study = study_of(folder)
    values = [t.value for t in study.get_trials(deepcopy=False) if t.value is not None]
    if len(values) < 4 or np.ptp(values) == 0:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the evaluator is called experimental
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        found = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(share) for name, share in found.items()}
