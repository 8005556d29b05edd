"""The folder of an experiment: its plan, what made it, its runs, its results."""

from __future__ import annotations

import datetime
import json
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import games
from config import UserError
from games.own import digest as digest_of_game
from network.own_network import digest as digest_of_network
from plugins.experiment.plan import Plan, from_values
from storage.atomic_files import write_file
from storage.run_files import RunBusy
from storage.run_folders import RUNS, make_private
from system import processes
from system.files import lock
from system.machine import processor_name
from system.program import commit, packages, sources_digest
from system.reading import TEXT_BYTES, read_limited

PLAN = "experiment.json"


def experiments() -> Path:
    """Return the folder of all experiments."""
    return RUNS / "experiments"


def default_folder(name: str) -> Path:
    """Return the folder of an experiment with this name."""
    return experiments() / (re.sub(r"[^A-Za-z0-9.=]+", "-", name).strip("-.")[:60] or "experiment")


def machine() -> dict[str, Any]:
    """Return what made a run: the machine, the program, the packages."""
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "sources": sources_digest()[:16],
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "processor": processor_name(),
        "processors": len(processes.processors()),
        "python": platform.python_version(),
        **packages("keras", "tensorflow", "numpy", "numba", "openvino"),
    }


def made_by(plan: Plan) -> dict[str, Any]:
    """Return what makes the runs of a plan: as `machine`, and digests of all code that its variants name."""
    code = {"game": digest_of_game(games.make(plan.game))[:16]}
    for variant in plan.variants:
        name = variant.name
        if variant.checkout:
            code[f"{name}: checkout"] = sources_digest(Path(variant.checkout))[:16]
        if variant.game:
            code[f"{name}: game"] = digest_of_game(games.make(variant.game))[:16]
        networks = [plan.changes(variant, 0, part).get("network") for part in range(variant.parts)]
        code[f"{name}: network"] = " ".join(digest_of_network(network)[:16] for network in networks if network)
    return machine() | {name: digest for name, digest in code.items() if digest}


def resumed(made: list[dict[str, Any]], now: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Return (what made each start, with this one if it is unlike the last; in words what differs from the last)."""
    last, this = (_lasting(facts) for facts in (made[-1] if made else {}, now))
    return (made if this == last else [*made, now]), differing(last, this)


def differing(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return in words what differs between two starts, out of what is known of both."""
    before, now = _lasting(before), _lasting(now)
    return [f"{name} {before[name]}, now {now[name]}" for name in now if before.get(name, now[name]) != now[name]]


def _lasting(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in ("date", "command")}


def read_experiment(folder: Path) -> tuple[Plan, list[dict[str, Any]]]:
    """Return (plan, what it was made with at each start) of an experiment; raise `UserError` if it is none."""
    path = folder / PLAN
    try:
        kept = json.loads(read_limited(path, TEXT_BYTES))
        values, made = dict(kept["plan"]), [{"command": "", **facts} for facts in kept["made"]]
        values["variants"] = {v["name"]: _present(v) for v in values["variants"]}
    except OSError as error:
        raise UserError(f"{folder}: expected an experiment, with a file {PLAN} ({error.strerror})") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UserError(f"{path}: expected the plan of an experiment, got another file") from None
    return from_values(values, str(path)), made


def _present(variant: dict[str, Any]) -> dict[str, Any]:
    own = {key: variant[key] for key in ("checkout", "game", "first") if variant.get(key)}
    return {**variant["settings"], **own}


def begin(folder: Path, plan: Plan, command: str) -> list[str]:
    """Write the plan into a new folder, or check that it is the folder's.

    Return in words what has changed since the last start: program, machine, code that variants name.
    """
    made: list[dict[str, Any]] = []
    if (folder / PLAN).exists():
        before, made = read_experiment(folder)
        if before.to_json() != plan.to_json():
            raise UserError(
                f"{folder}: expected the plan that this experiment began with, got another; -o names another folder"
            )
    else:
        make_private(folder)
    starts, changed = resumed(made, {**made_by(plan), "command": command})
    if starts != made:
        write_file(folder / PLAN, json.dumps({"plan": plan.to_json(), "made": starts}, indent=1).encode())
    return changed


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of an experiment while the block runs; raise `RunBusy` if one is in it."""
    make_private(folder)
    with open(folder / "lock", "ab") as file:
        if not lock(file.fileno()):
            raise RunBusy(f"{folder}: another process works on this experiment")
        yield
