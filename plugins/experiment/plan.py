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

import numpy as np

from config import (
    FIELDS,
    NO_TOURNAMENT,
    TYPES,
    Config,
    TournamentSettings,
    UserError,
    fault_of,
    find_faults,
    unknown_setting,
)
from plugins.experiment.statistics import SPREAD
from system.reading import TEXT_BYTES, read_limited
from training.presets import preset, preset_for

ALWAYS: dict[str, Any] = {"score_every": 0, "score_games": 0, "eval_every": NO_TOURNAMENT, "workers": 0}
"""Settings of every run unless the plan names others: nothing is spent on looking at it."""
NAME = re.compile(r"[^\x00-\x1f\x7f/\\|]{1,60}\Z")
OF_VARIANT = "checkout", "game"
"""What a variant says besides its settings, and `first`."""
OF_PLAN = "seed", "minutes", "evaluations", "iterations"
"""Settings that the plan decides for all runs."""
OF_TOURNAMENT = [f.name for f in fields(TournamentSettings) if f.name != "eval_every"]
"""Settings that do nothing in a run without tournaments."""
BUDGETS = "minutes", "evaluations", "self_play_games"
"""The compute of each run: a plan names one of them."""


@dataclass(frozen=True)
class Variant:
    """One idea."""

    name: str
    settings: dict[str, Any] = field(default_factory=dict)
    checkout: str = ""
    """The folder of another checkout whose code trains and plays; "" = this one."""
    game: str = ""
    """Its own file of the game, FILE.py:CLASS, with the same moves; "" = the plan's game."""
    first: dict[str, Any] = field(default_factory=dict)
    """Settings of a run that goes before and gives its network and games to this one, as of a smaller network, with
    `share`: the part of the compute that it takes; {} = the run begins from nothing."""

    @property
    def parts(self) -> int:
        """How many runs follow each other."""
        return 2 if self.first else 1


@dataclass(frozen=True)
class Plan:
    """An experiment. The first variant is the base that the others are compared with."""

    game: str
    variants: tuple[Variant, ...]
    seeds: int = 3
    first_seed: int = 0
    minutes: float = 0.0
    """Minutes of a run: processor time of all its cores divided by `cores`."""
    evaluations: float = 0.0
    """Positions that the network evaluates in self-play and reanalysis of a run, in the place of minutes."""
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

    @property
    def budget(self) -> str:
        """The compute of a run, in words."""
        return self.compute(1)

    def compute(self, runs: int) -> str:
        """Return what a number of runs cost, in words."""
        if self.minutes:
            cores = "a core" if self.cores == 1 else f"{self.cores} cores"
            hours = runs * self.minutes * self.cores / 60
            return f"{self.minutes:g} minutes of {cores}" if runs == 1 else f"{hours:,.1f} core-hours"
        if self.evaluations:
            return f"{runs * self.evaluations:,.0f} evaluations"
        return f"{runs * self.self_play_games:,} games of self-play"

    def seed_numbers(self) -> range:
        return range(self.first_seed, self.first_seed + self.seeds)

    def with_whole_names(self) -> Plan:
        """Return the plan with its games' names in full; raise `UserError` if there is no such game."""
        import games

        game = games.make(self.game)
        variants = []
        for variant in self.variants:
            own = games.make(variant.game) if variant.game else None
            if own is not None and not _played_alike(game, own):
                raise UserError(f"{variant.name}: expected the board and the moves of {game.spec}, got {own.spec}")
            variants.append(replace(variant, game=own.spec if own else ""))
        return replace(self, game=game.spec, variants=tuple(variants))

    def game_of(self, variant: Variant) -> str:
        return variant.game or self.game

    def changes(self, variant: Variant, seed: int, part: int = -1) -> dict[str, Any]:
        """Return the settings of a run that the plan names, in addition to its game's preset; the last part's."""
        found = {**ALWAYS, **self.settings, **variant.settings, "seed": seed}
        share, games = 1.0, self.self_play_games
        if variant.first:
            before, share = dict(variant.first), variant.first["share"]
            own = found | {name: value for name, value in before.items() if name != "share"}
            of_first = max(round(share * games / self._episodes(own)), 1) * self._episodes(own)
            if part == 0:
                found, games = own, of_first
            else:
                share, games = 1 - share, games - of_first
                whole = preset(preset_for(self.game), game=self.game).hidden_cnn_layers
                found.setdefault("hidden_cnn_layers", list(whole))  # it would be like the first network otherwise
        iterations = max(games // self._episodes(found), 1) if self.self_play_games else 10**6
        limit = {"evaluations": share * self.evaluations} if self.evaluations else {}
        return {**found, "minutes": share * self.minutes, **limit, "iterations": iterations}

    def _episodes(self, settings: dict[str, Any]) -> int:
        """Return the games of an iteration; the preset's where the settings name none that is possible."""
        named = settings.get("episodes")
        if type(named) is int and named > 0:
            return named
        return preset(preset_for(self.game), game=self.game).episodes

    def known(self, variant: Variant, seed: int, part: int = -1) -> dict[str, Any]:
        """Return those of the settings of a run that this program knows: another checkout may have more."""
        return {n: v for n, v in self.changes(variant, seed, part).items() if n in FIELDS or not variant.checkout}

    def config(self, variant: Variant, seed: int, part: int = -1) -> Config:
        """Return the settings of a run as this program knows them."""
        known = self.known(variant, seed, part)
        return preset(preset_for(self.game), self.cores, game=self.game_of(variant), **known)

    def arguments(self, variant: Variant, seed: int, part: int = -1) -> list[str]:
        """Return the options of `train` for a run."""
        words = ["--preset", preset_for(self.game), "--game", self.game_of(variant)]
        for name, value in self.changes(variant, seed, part).items():
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
    "evaluations": (0, 10**15),
    "self_play_games": (0, 10**9),
    "cores": (1, 1024),
    "match_games": (2, 100_000),
    "sims": (1, 60_000),
    "opening_plies": (0, 1000),
    "positions": (0, 100_000),
    "spread": (0, 1000),
}


def _played_alike(game: Any, other: Any) -> bool:
    """Return whether two games allow the same moves, and end alike, in a random game."""
    if (game.grid_shape, game.action_size) != (other.grid_shape, other.action_size):
        return False
    state, twin, rng = game.start(), other.start(), np.random.default_rng(0)
    while not state.isEndGame and not twin.isEndGame:
        if list(state.allowedActions) != list(twin.allowedActions):
            return False
        action = int(rng.choice(state.allowedActions))
        state, twin = state.takeAction(action)[0], twin.takeAction(action)[0]
    return bool(state.isEndGame == twin.isEndGame)


def from_values(values: Mapping[str, Any], source: str) -> Plan:
    """Return the plan of values as in a file; raise `UserError` with a line for each fault. Games' names stay."""
    keys = [*NUMBERS, "game", "settings", "variants"]
    faults = [f"{source}: {unknown_setting(name, keys)}" for name in values if name not in keys]
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
    own = *OF_VARIANT, *OF_PLAN
    faults += [f"{source}: settings: {name} belongs to the plan" for name in settings if name in own]
    variants = []
    for name, found in given.items():
        if not NAME.match(name):
            faults.append(f"{source}: expected a variant's name of at most 60 characters without / \\ |, got {name!r}")
        faults += [f"{source}: variant {name!r}: {key} belongs to the plan" for key in found if key in OF_PLAN]
        for key in OF_VARIANT:
            if not isinstance(found.get(key, ""), str):
                faults.append(f"{source}: variant {name!r}: {key}: expected a text, got {found[key]!r}")
        first = found.get("first", {})
        if not isinstance(first, dict) or (first and fault_of(first.get("share"), float, 0.01, 0.99)):
            faults.append(f"{source}: variant {name!r}: first: expected a table with share, from 0.01 to 0.99")
            first = {}
        faults += [f"{source}: variant {name!r}: first: {key} belongs to the plan" for key in first if key in own]
        rest = {n: v for n, v in found.items() if n not in (*own, "first")}
        checkout = ""
        if found.get("checkout"):
            try:
                checkout = str(Path(str(found["checkout"])).expanduser().resolve())
            except (RuntimeError, ValueError, OSError) as error:
                faults.append(f"{source}: variant {name!r}: checkout: expected a folder ({error})")
        variants.append(Variant(name, rest, checkout, str(found.get("game", "")), first))
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
    if sum(bool(getattr(plan, name)) for name in BUDGETS) != 1:
        raise UserError(f"{source}: expected {', '.join(BUDGETS)}, the compute of each run: one of them")
    if plan.match_games % 2:
        raise UserError(
            f"{source}: match_games: expected an even number, both colours of each opening; got {plan.match_games}"
        )
    for variant in plan.variants:
        if faults := [f for part in range(variant.parts) for f in find_faults(plan.known(variant, 0, part))]:
            raise UserError("\n".join(f"{source}: variant {variant.name!r}: {fault}" for fault in faults))
        parts = [plan.config(variant, plan.first_seed, part) for part in range(variant.parts)]
        if plan.minutes and any(config.workers for config in parts):
            raise UserError(f"{source}: workers: expected 0 with minutes, which are processor time of one process")
        of_first = sum(config.iterations * config.episodes for config in parts[:-1])
        left = plan.self_play_games - of_first
        if plan.self_play_games and (left <= 0 or left % parts[-1].episodes):
            after = f" to be left after the {of_first} games of its first part" if of_first else ""
            raise UserError(
                f"{source}: self_play_games: expected a multiple of the episodes of variant "
                f"{variant.name!r} ({parts[-1].episodes}){after}, got {left}"
            )
        for config in parts:
            _check_tournaments(variant, config, f"{source}: variant {variant.name!r}")


def _check_tournaments(variant: Variant, config: Config, where: str) -> None:
    """Raise `UserError` for settings that need tournaments in a run that has none before its end."""
    named = [name for name in OF_TOURNAMENT if name in {**variant.settings, **variant.first}]
    if config.selfplay_with == "best":
        named.append("selfplay_with")
    if named and config.eval_every >= config.iterations:
        raise UserError(
            f"{where}: {named[0]}: expected tournaments, there is none before the end of a run (eval_every "
            f"{config.eval_every}); set a smaller eval_every for all variants, as --set eval_every=5 or in [settings]"
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
    found = {f"{name}={value}": {name: value} for value in values}
    if len(found) < max(2, len(values)):
        raise UserError(f"vary: expected two or more values that differ, got {text[:60]!r}")
    return found
