"""Goals of learning and their records, as a file of TOML holds them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from config import FIELDS, UserError, fault_of, find_faults, unknown_setting
from system.reading import TEXT_BYTES, read_limited

SHIPPED = Path(__file__).with_name("records.toml")
MEASURES = {
    "kept": ("positions",),
    "score": ("games", "opponent"),
    "openings": (),
}
"""{what is measured: what the goal says of it besides}"""


@dataclass(frozen=True)
class Record:
    """A claim: after how many minutes the goal was reached."""

    minutes: float
    """Until the goal was reached, of the goal's cores."""
    of: float = 0.0
    """Minutes that the run was planned for, which its learning rate follows; 0 = the same. A run ends with the
    iteration in which they end, so that `minutes` may be a little more."""
    seeds: tuple[int, ...] = (0,)
    """Each of them reached it."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What differs from the game's preset."""
    figure: float = 0.0
    """The share reached, in percent; of several seeds the lowest."""
    commit: str = ""
    date: str = ""
    machine: str = ""
    command: str = ""
    log: str = ""
    curve: tuple[tuple[float, float], ...] = ()
    """(minutes, percent) of versions of the run."""

    @property
    def planned(self) -> float:
        return self.of or self.minutes


@dataclass(frozen=True)
class Goal:
    """What a network is to reach in as few minutes as possible."""

    name: str
    about: str
    game: str
    measure: str
    goal: float
    """The share to be reached, in percent."""
    sims: int
    """Simulations a move."""
    cores: int = 1
    positions: int = 0
    games: int = 0
    opponent: str = ""
    records: tuple[Record, ...] = ()

    @property
    def best(self) -> Record | None:
        """The record of the fewest minutes, None if nobody has reached it."""
        return min(self.records, key=lambda record: record.minutes, default=None)


RANGES: dict[str, tuple[type, float, float]] = {
    "goal": (float, 0, 100),
    "sims": (int, 1, 60_000),
    "cores": (int, 1, 1024),
    "positions": (int, 1, 100_000),
    "games": (int, 2, 100_000),
    "minutes": (float, 0.001, 10**6),
    "of": (float, 0, 10**6),
    "figure": (float, 0, 100),
}


def read_goals(path: Path) -> dict[str, Goal]:
    """Return {name: goal} of a file; raise `UserError` with a line for each fault."""
    try:
        tables = tomllib.loads(read_limited(path, TEXT_BYTES).decode())
    except OSError as error:
        raise UserError(f"{path}: expected a file of records ({error.strerror})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"{path}: expected TOML ({str(error)[:100]})") from None
    faults: list[str] = []
    found = {}
    for name, values in tables.items():
        where = f"{path.name}: {name}"
        if not isinstance(values, dict):
            faults.append(f"{where}: expected a table [{name[:40]}]")
            continue
        records = values.pop("records", [])
        faults += _faults(where, values, Goal, ("about", "game", "measure", "goal", "sims"))
        if str(values.get("measure")) not in MEASURES:
            faults.append(f"{where}: expected measure out of {', '.join(MEASURES)}")
        else:
            faults += [f"{where}: expected {key}" for key in MEASURES[values["measure"]] if not values.get(key)]
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            faults.append(f"{where}: expected records as tables [[{name[:40]}.records]]")
            continue
        for record in records:
            faults += _faults(where, record, Record, ("minutes",)) + _faults_of_run(where, record)
        if not faults:
            made = tuple(Record(**{**record, **_fixed(record)}) for record in records)
            found[name] = Goal(name=name, records=made, **values)
    if faults:
        raise UserError("\n".join(faults))
    return found


def _fixed(record: dict[str, Any]) -> dict[str, Any]:
    """Return the lists and the date of a record as values that do not change."""
    return {
        "seeds": tuple(record.get("seeds", (0,))),
        "date": str(record.get("date", "")),
        "curve": tuple((float(x), float(y)) for x, y in record.get("curve", ())),
    }


def _faults(where: str, values: dict[str, Any], kind: type, needed: tuple[str, ...]) -> list[str]:
    """Return what is wrong with the keys and numbers of a table."""
    known = [f.name for f in fields(kind) if f.name not in ("name", "records")]
    faults = [f"{where}: {unknown_setting(key, known)}" for key in values if key not in known]
    faults += [f"{where}: expected {key}" for key in needed if key not in values]
    for key, value in values.items():
        if key in RANGES:
            if fault := fault_of(value, *RANGES[key]):
                faults.append(f"{where}: {key}: expected {fault}, got {value!r}")
        elif key not in ("seeds", "settings", "date", "curve") and not isinstance(value, str):
            faults.append(f"{where}: {key}: expected a text, got {value!r}")
    return faults


def _faults_of_run(where: str, record: dict[str, Any]) -> list[str]:
    seeds, settings, curve = record.get("seeds", [0]), record.get("settings", {}), record.get("curve", [])
    faults = []
    if not isinstance(seeds, list) or not seeds or any(fault_of(seed, int, 0, 2**31 - 1) for seed in seeds):
        faults.append(f"{where}: seeds: expected a list of whole numbers, got {seeds!r}")
    numbers = isinstance(curve, list) and all(
        isinstance(point, list) and len(point) == 2 and not any(fault_of(x, float, 0, 10**6) for x in point)
        for point in curve
    )
    if not numbers:
        faults.append(f"{where}: curve: expected pairs [minutes, percent]")
    if not isinstance(settings, dict):
        return [*faults, f"{where}: settings: expected a table"]
    if "network" in settings:
        faults.append(f"{where}: settings: expected what the program has at the commit, got a network of a file")
    unknown = [f"{where}: settings: {unknown_setting(key)}" for key in settings if key not in FIELDS]
    return [*faults, *(unknown or [f"{where}: settings: {fault}" for fault in find_faults(settings)])]
