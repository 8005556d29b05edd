"""What an experiment is to do: its variants, seeds and compute, read from a TOML file or from options."""

from __future__ import annotations

import json
import re
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from config import FIELDS, TYPES, Config, UserError, fault_of, find_faults, unknown_setting
from plugins.experiment.statistics import SPREAD
from system.reading import TEXT_BYTES, read_limited
from training.presets import preset, preset_for

ALWAYS: dict[str, Any] = {"score_every": 0, "score_games": 0, "eval_every": 10**6, "workers": 0}
"""Settings of every run unless the plan names others: nothing is spent on looking at it."""
NAME = re.compile(r"[^\x00-\x1f\x7f/\\|]{1,60}\Z")
OWN = "checkout", "game", "seed", "minutes", "iterations"
"""What a plan says in its own words, or itself decides."""


@dataclass(frozen=True)
class Variant:
    """One idea."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    checkout: str = ""
    """The folder of another checkout whose code trains and plays; "" = this one."""
    game: str = ""
    """Its own file of the game, FILE.py:CLASS, with the same moves; "" = the plan's game."""


@dataclass(frozen=True)
class Plan:
    """An experiment. The first variant is the base that the others are compared with."""

    game: str
    variants: tuple[Variant, ...]
    seeds: int = 3
    first_seed: int = 0
    minutes: float = 0.0
    """Minutes of a run: processor time of all its cores divided by `cores`. 0 = `self_play_games` count."""
    self_play_games: int = 0
    """Games of self-play of a run, in the place of minutes."""
    cores: int = 1
    """Processors of a run; as many runs go on side by side as the machine has room for."""
    match_games: int = 200
    """Games between two variants in each seed."""
    sims: int = 400
    """Simulations a move, in these games and on solved positions."""
    opening_plies: int = 4
    positions: int = 1000
    """Solved positions, in games that have a solver; 0 = none."""
    spread: float = SPREAD
    """Standard deviation over seeds that the power is computed with, in Elo."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Settings of all variants."""

    @property
    def base(self) -> Variant:
        return self.variants[0]

    @property
    def comparisons(self) -> int:
        return len(self.variants) - 1

    def seed_numbers(self) -> range:
        return range(self.first_seed, self.first_seed + self.seeds)

    def with_whole_names(self) -> Plan:
        """Return the plan with its games' names in full; raise `UserError` if there is no such game."""
        import games

        variants = tuple(replace(v, game=games.make(v.game).spec if v.game else "") for v in self.variants)
        return replace(self, game=games.make(self.game).spec, variants=variants)

    def game_of(self, variant: Variant) -> str:
        return variant.game or self.game

    def changes(self, variant: Variant, seed: int) -> dict[str, Any]:
        """Return the settings of a run that the plan names, in addition to its game's preset."""
        found = {**ALWAYS, **self.settings, **variant.settings, "seed": seed}
        if self.minutes:
            return {**found, "minutes": self.minutes, "iterations": 10**6}
        episodes = int(found.get("episodes", preset(preset_for(self.game), game=self.game).episodes))
        return {**found, "minutes": 0.0, "iterations": max(self.self_play_games // episodes, 1)}

    def config(self, variant: Variant, seed: int) -> Config:
        """Return the settings of a run as this program knows them: another checkout may know more."""
        known = {n: v for n, v in self.changes(variant, seed).items() if n in FIELDS or not variant.checkout}
        return preset(preset_for(self.game), game=self.game_of(variant), **known)

    def arguments(self, variant: Variant, seed: int) -> list[str]:
        """Return the options of `train` for a run."""
        words = ["--preset", preset_for(self.game), "--game", self.game_of(variant)]
        for name, value in self.changes(variant, seed).items():
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                words.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                words += [f"--{flag}", *(map(str, value) if isinstance(value, list | tuple) else [str(value)])]
        return words

    def to_json(self) -> dict[str, Any]:
        """Return the plan as values that JSON gives back unchanged."""
        return json.loads(json.dumps(asdict(self)))


NUMBERS = {f.name: (float if f.type == "float" else int) for f in fields(Plan) if f.type in ("float", "int")}
RANGES = {
    "seeds": (1, 1000),
    "first_seed": (0, 10**9),
    "minutes": (0, 10**6),
    "self_play_games": (0, 10**9),
    "cores": (1, 1024),
    "match_games": (2, 100_000),
    "sims": (1, 60_000),
    "opening_plies": (0, 1000),
    "positions": (0, 100_000),
    "spread": (0, 1000),
}


def from_values(values: Mapping[str, Any], source: str) -> Plan:
    """Return the plan of values as in a file; raise `UserError` with a line for each fault. Games' names stay."""
    faults = [
        f"{source}: {unknown_setting(name, [*NUMBERS, 'game', 'settings', 'variants'])}"
        for name in values
        if name not in {*NUMBERS, "game", "settings", "variants"}
    ]
    for name, kind in NUMBERS.items():
        if name in values and (fault := fault_of(values[name], kind, *RANGES[name])):
            faults.append(f"{source}: {name}: expected {fault}, got {values[name]!r}")
    given = values.get("variants")
    if not isinstance(given, dict) or len(given) < 2 or not all(isinstance(v, dict) for v in given.values()):
        faults.append(f"{source}: expected at least two tables [variants.NAME], the first one is the base")
        raise UserError("\n".join(faults))
    settings = values.get("settings", {})
    if not isinstance(settings, dict):
        faults.append(f"{source}: settings: expected a table [settings]")
        settings = {}
    faults += [f"{source}: settings: {name} belongs to the plan" for name in settings if name in OWN]
    variants = []
    for name, found in given.items():
        if not NAME.match(name):
            faults.append(f"{source}: expected a variant's name of at most 60 characters without / \\ |, got {name!r}")
        faults += [f"{source}: variant {name!r}: {own} belongs to the plan" for own in found if own in OWN[2:]]
        for own in OWN[:2]:
            if not isinstance(found.get(own, ""), str):
                faults.append(f"{source}: variant {name!r}: {own}: expected a text, got {found[own]!r}")
        rest = {n: v for n, v in found.items() if n not in OWN}
        checkout = str(Path(str(found["checkout"])).expanduser().resolve()) if found.get("checkout") else ""
        variants.append(Variant(name, rest, checkout, str(found.get("game", ""))))
    if not isinstance(values.get("game", ""), str) or not values.get("game"):
        faults.append(f'{source}: expected game = "NAME"')
    if faults:
        raise UserError("\n".join(faults))
    plan = Plan(
        game=values["game"],
        variants=tuple(variants),
        settings=settings,
        **{name: values[name] for name in NUMBERS if name in values},
    )
    _check(plan, source)
    return plan


def _check(plan: Plan, source: str) -> None:
    """Raise `UserError` for what is possible alone, and not together."""
    if bool(plan.minutes) == bool(plan.self_play_games):
        raise UserError(f"{source}: expected minutes or self_play_games, the compute of each run: one of them")
    if plan.match_games % 2:
        raise UserError(
            f"{source}: match_games: expected an even number, both colours of each opening; got {plan.match_games}"
        )
    for variant in plan.variants:
        known = {n: v for n, v in plan.changes(variant, 0).items() if n in FIELDS or not variant.checkout}
        if faults := find_faults(known):
            raise UserError("\n".join(f"{source}: variant {variant.name!r}: {fault}" for fault in faults))
        config = plan.config(variant, plan.first_seed)
        if plan.minutes and config.workers:
            raise UserError(f"{source}: workers: expected 0 with minutes, which are processor time of one process")
        if not plan.minutes and plan.self_play_games % config.episodes:
            raise UserError(
                f"{source}: self_play_games: expected a multiple of the episodes of variant "
                f"{variant.name!r} ({config.episodes}), got {plan.self_play_games}"
            )


def from_file(path: Path) -> Plan:
    """Read a plan; raise `UserError` if it is none, or a checkout that it names is not there."""
    try:
        values = tomllib.loads(read_limited(path, TEXT_BYTES).decode())
    except OSError as error:
        raise UserError(f"{path}: expected a plan of an experiment ({error.strerror})") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"{path}: expected TOML ({str(error)[:100]})") from None
    plan = from_values(values, path.name)
    faults = [
        f"{path.name}: variant {v.name!r}: checkout: expected a folder with main.py, got {v.checkout}"
        for v in plan.variants
        if v.checkout and not (Path(v.checkout) / "main.py").is_file()
    ]
    if faults:
        raise UserError("\n".join(faults))
    return plan


def pair(text: str, what: str) -> tuple[str, list[Any]]:
    """Return (name, values) of a setting typed as NAME=VALUE,VALUE."""
    name, sign, rest = text.partition("=")
    name = name.replace("-", "_")
    if not sign or not rest:
        raise UserError(f"{what}: expected NAME=VALUE, got {text[:60]!r}")
    if name not in FIELDS:
        raise UserError(f"{what}: {unknown_setting(name)}")
    if name == "hidden_cnn_layers":
        return name, [rest.split(",")]
    return name, [_value(name, word, what) for word in rest.split(",")]


def _value(name: str, word: str, what: str) -> Any:
    kind = TYPES[name]
    if kind in (str, str | None) or typing.get_origin(kind) is typing.Literal:
        return word
    try:
        return json.loads(word.lower())
    except ValueError:
        raise UserError(f"{what}: {name}: expected a number or true or false, got {word[:60]!r}") from None


def varied(text: str) -> dict[str, dict[str, Any]]:
    """Return the variants of "NAME=VALUE,VALUE,...", the first one is the base.

    >>> varied("cpuct=1.0,1.25")
    {'cpuct=1.0': {'cpuct': 1.0}, 'cpuct=1.25': {'cpuct': 1.25}}
    """
    name, values = pair(text, "vary")
    if name == "hidden_cnn_layers":
        raise UserError("vary: hidden_cnn_layers: expected a file with a table for each network, its values are lists")
    return {f"{name}={value}": {name: value} for value in values}
