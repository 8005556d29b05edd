"""The space of a sweep: which settings vary, between which values; a TOML file that also has a plan's numbers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from config import FIELDS, TYPES, UserError, fault_of, find_faults, unknown_setting
from plugins.experiment.plan import OF_PLAN, Plan, Variant, from_values
from system.reading import TEXT_BYTES, read_limited

BASE = "base"
MOST = 10_000
"""Trials at most."""


@dataclass(frozen=True)
class Sweep:
    """What a sweep is to do."""

    plan: Plan
    """Its first variant is the base that each trial plays; the second one only shows that the space is one."""
    space: dict[str, Any]
    """{setting: a list of its values, or {"low", "high", and perhaps "log", "step"}}"""
    trials: int

    def with_trials(self, trials: Mapping[int, Mapping[str, Any]]) -> Plan:
        """Return the plan whose variants are the base and trials, each with the number of its place."""
        count = max(trials, default=-1) + 1
        made = (Variant(f"trial {n}", dict(trials.get(n, {}))) for n in range(count))
        return replace(self.plan, variants=(self.plan.base, *made))

    def to_json(self) -> dict[str, Any]:
        return {"plan": self.plan.to_json(), "space": self.space}


def from_file(path: Path) -> Sweep:
    """Read a sweep; raise `UserError` if it is none."""
    try:
        values = tomllib.loads(read_limited(path, TEXT_BYTES).decode())
    except OSError as error:
        raise UserError(f"{path}: expected a file of a sweep ({error.strerror})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"{path}: expected TOML ({str(error)[:100]})") from None
    return from_table(values, path.name)


def from_table(values: dict[str, Any], source: str) -> Sweep:
    """Return the sweep of values as in a file; raise `UserError` with a line for each fault."""
    rest = dict(values)
    trials, space = rest.pop("trials", None), rest.pop("space", None)
    faults = []
    if fault := fault_of(trials, int, 1, MOST):
        faults.append(f"{source}: trials: expected {fault}, got {trials!r}")
    if "variants" in rest:
        faults.append(f"{source}: variants: expected [space] in their place")
    if not isinstance(space, dict) or not space:
        raise UserError("\n".join([*faults, f"{source}: expected a table [space] with a line for each setting"]))
    for name, what in space.items():
        if name in OF_PLAN or name in ("game", "hidden_cnn_layers") or name not in FIELDS:
            why = unknown_setting(name) if name not in FIELDS else f"{name} cannot vary here"
            faults.append(f"{source}: space: {why}")
        else:
            faults += [f"{source}: space: {fault}" for fault in _faults(name, what)]
    if faults:
        raise UserError("\n".join(faults))
    other = {name: what[0] if isinstance(what, list) else what["low"] for name, what in space.items()}

    def plan_of(**changes: Any) -> Plan:
        return from_values({"positions": 0, **rest, "variants": {BASE: {}, "space": {**other, **changes}}}, source)

    for name, what in space.items():
        for value in what if isinstance(what, list) else ():
            plan_of(**{name: value})  # it raises for a value that is possible alone, and not with the rest
    return Sweep(plan_of(), space, trials)


def _faults(name: str, what: Any) -> list[str]:
    """Return what is wrong with the values that a setting is to have."""
    if isinstance(what, list):
        if len(what) < 2:
            return [f"{name}: expected at least two values, got {what!r}"]
        return [fault for value in what for fault in find_faults({name: value})]
    if not isinstance(what, dict) or not {"low", "high"} <= set(what) <= {"low", "high", "log", "step"}:
        return [f"{name}: expected a list of values, or {{low = .., high = ..}} with log = true or step = .."]
    kind = TYPES[name]
    if kind not in (int, float):
        return [f"{name}: expected a list of values, as it is no number"]
    ends = [fault for end in ("low", "high") for fault in find_faults({name: what[end]})]
    if ends:
        return ends
    if what["low"] >= what["high"]:
        return [f"{name}: expected low < high, got {what['low']!r} and {what['high']!r}"]
    if not isinstance(what.get("log", False), bool) or (what.get("log") and ("step" in what or what["low"] <= 0)):
        return [f"{name}: expected log = true with low > 0 and without step"]
    if "step" in what and fault_of(what["step"], kind, 1 if kind is int else 1e-12, what["high"] - what["low"]):
        return [f"{name}: step: expected a number of at most high - low, got {what['step']!r}"]
    return []
