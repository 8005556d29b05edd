"""Every setting, with its range and its value in the article (D. Foster, 2018); JSON; presets: training/presets.py.

A setting of the article keeps its name, in lower case. Code takes the group it needs; files and flags hold all settings
in one flat `Config`. Both are frozen, check every field, and report all faults at once. Change a group with
`dataclasses.replace`, a `Config` with `with_overrides`.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import re
import typing
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

VERSION = "0.8.0"
RANGE = re.compile(r"(\w+)\s*=\s*([0-9]{1,3})\.\.([0-9]{1,3})(?=\s*[,)])")  # of a game's sizes, in its brackets
LAYER = re.compile(r"([1-9][0-9]{0,3})x([1-9][0-9]?)\Z")
GAME = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,1000}\Z")  # what can be typed; `games.make` knows what it means
G = TypeVar("G", bound="_Checked")
NO_TOURNAMENT = 10**6  # as `eval_every`
MOST_WEIGHTS = 500_000_000  # of the layers together: more than any of these networks has use for, and 2 GB


class UserError(Exception):
    """A mistake of the person at the keyboard: one line, shown without a traceback, exit code 2."""

    exit_code = 2

    def _render_traceback_(self) -> list[str]:
        """Show one line in a notebook as well."""
        return [f"{type(self).__name__}: {self}"]


class SettingsError(UserError):
    """One or more settings are impossible; the message has one line for each fault."""


def has_range(game: str) -> bool:  # of sizes
    return RANGE.search(game.rpartition("(")[2]) is not None


def setting(default: Any, low: float | None = None, high: float | None = None, *, fixed: bool = False) -> Any:
    """Declare a field with its inclusive range; `fixed` settings cannot change while a run lives."""
    return field(default=default, metadata={"low": low, "high": high, "fixed": fixed})


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """Settings that are checked when they are made."""

    def __post_init__(self) -> None:
        if faults := find_faults(vars(self)):
            raise SettingsError("\n".join(faults))
        for name, value in vars(self).items():
            if isinstance(value, list):  # layers, from a file
                object.__setattr__(self, name, tuple(value))


@dataclass(frozen=True, kw_only=True)
class RunSettings(_Checked):
    """What a run learns, and for how long."""

    game: str = setting("connect4", fixed=True)
    """Game to learn; parameters in brackets, e.g. "connect4(rows=5,columns=6)"."""
    seed: int = setting(0, 0, 2**31 - 1, fixed=True)
    """Random seed of the run: every random draw follows from it."""
    iterations: int = setting(400, 1, 10**6)
    """Iterations of self-play, retraining and tournament until the run is finished; the learning rate follows them."""
    minutes: float = setting(0.0, 0, 10**6)
    """Minutes of work after which the run ends with its iteration, the learning rate at its end; 0 = no limit."""
    evaluations: float = setting(0.0, 0, 10**15)
    """Positions that the network evaluates in self-play and reanalysis, after which the run ends in the same way; 0 =
    no limit."""


@dataclass(frozen=True, kw_only=True)
class SelfPlaySettings(_Checked):
    """How the games of self-play are played."""

    episodes: int = setting(1024, 1, 10**6)
    """Games of self-play in an iteration (article: 30)."""
    mcts_sims: int = setting(96, 1, 60_000)
    """Visits of the root at which a full search ends; visits kept from the last move count (article: 50)."""
    fast_sims: int = setting(24, 1, 60_000)
    """The same for a fast search, which plays but trains no policy (playout-cap randomisation)."""
    full_search_share: float = setting(1.0, 0.01, 1)
    """Fraction of moves with a full search; 1 = every move (article: 1)."""
    grow_sims: int = setting(40, 0, 10**6)
    """Iterations in which mcts_sims and fast_sims grow from a quarter to all; 0 = all at once (article: 0)."""
    turns_until_tau0: int = setting(12, 0, 10_000)
    """Plies, random ones included, in which moves are drawn by their visits; then the most visited (article: 10)."""
    random_opening_share: float = setting(0.75, 0, 1)
    """Fraction of self-play games begun with random moves; without, games grow alike, learning stalls (article: 0)."""
    random_opening_plies: int = setting(30, 0, 1000)
    """Largest number of random moves in such an opening; the number is drawn from 1 to this."""
    full_after_opening: bool = setting(False)
    """Make the first search after random moves a full one: that position is like no other game's."""
    root_temperature: float = setting(1.0, 0.1, 10)
    """Temperature T of the root's priors in full searches without gumbel, at a game's first ply. It moves towards 1 +
    0.4 (T - 1), half of the way in turns_until_tau0 plies (KataGo: 1.25, so 1.1 in the end; article: 1)."""
    gumbel: int = setting(0, 0, 10_000)
    """Number m of moves that a full search of self-play considers, drawn by Gumbel noise and halved in turns, instead
    of Dirichlet noise, tau and the last search's tree. For few simulations (Danihelka 2022: 16). 0 = off."""
    games_in_flight: int = setting(256, 1, 65_536)
    """Self-play games side by side on a CPU, rounded up to fill a compiled batch for each thread."""
    games_on_gpu: int = setting(0, 0, 1 << 20)
    """The same on a GPU; 0 = as few as keep it busy, from its speed measured at the start."""
    workers: int = setting(0, 0, 256)
    """Processes that play the self-play games; 0 = threads of this process. The games are the same."""
    cache_size: int = setting(1 << 18, 0, 1 << 26)
    """Positions whose evaluation is cached until the weights change; 0 = only the last one of each thread."""
    size_ratio: float = setting(1.0, 0.1, 10)
    """Games on each size of a range over those on the next smaller one; 1 = as many on every size."""
    selfplay_with: Literal["current", "best"] = setting("current")
    """Network that plays the training games (article: best)."""


@dataclass(frozen=True, kw_only=True)
class SearchSettings(_Checked):
    """How a tree is searched, wherever one is."""

    cpuct: float = setting(1.25, 0.01, 100)
    """Weight of the priors in the search, c in PUCT (article: 1)."""
    epsilon: float = setting(0.25, 0, 1)
    """Fraction of Dirichlet noise in the root's priors in self-play (article: 0.2)."""
    alpha: float = setting(0.0, 0, 1000)
    """Concentration of that noise; 0 = 10.83 / number of legal moves that do not lose at once (article: 0.8)."""
    fpu_reduction: float = setting(0.25, -1, 2)
    """First-play urgency: an unvisited move's Q is the node's value less this x sqrt(visited prior). Below 0 its Q is
    0, as in the article. At the root the reduction is 0."""
    proofs: bool = setting(True)
    """Prove exact values and moves in the tree; proven positions are not searched again (MCTS-Solver; article: no)."""
    look_ahead: int = setting(2, 0, 2)
    """1: a position with an immediate win is proven won. 2: also prune moves that let the opponent win at once. 0 =
    off. Needs proofs, and a game won by a move (not Go, Othello, MetaSquares or plain Python)."""
    endgame: int = setting(12, 0, 100)
    """Plies before the usual end of a game from which on the search solves positions by alpha-beta, if few positions
    are enough. Needs proofs, in the games of `look_ahead` and Othello up to 8x8. 0 = off (article: 0)."""
    forced_wins: int = setting(0, 0, 2)
    """Gomoku: 1 = prove wins by continuous fours at new positions, and prune moves that leave the opponent one. 2 = at
    roots by fours and threes, too; in play it is 2. Needs look_ahead 2. 0 = off (article: 0)."""
    forced_playouts: float = setting(0.0, 0, 100)
    """k: in full searches of self-play a move visited once gets at least sqrt(k x prior x all visits). Visits that only
    this forced are left out of the policy target (KataGo: 2). 0 = off (article: 0)."""


@dataclass(frozen=True, kw_only=True)
class MemorySettings(_Checked):
    """Which positions are kept, and their value targets."""

    memory_size: int = setting(600_000, 16, 10**8)
    """Largest number of positions in the training window (article: 30000)."""
    min_memory: int = setting(5_000, 1, 10**8)
    """Positions needed before training starts (article: memory_size)."""
    value_lambda: float = setting(1.0, 0, 1, fixed=True)
    """TD(lambda): with 1 the game's result is the value target; below 1 it is mixed with the values of the searches at
    later plies, and counts less the later it came (article: 1)."""
    reanalyse_share: float = setting(0.0, 0, 10)
    """Early positions of the window that an iteration searches again with the newest network, as a fraction of its new
    positions: those whose search was furthest from the result. The new search becomes what they teach; the games
    stay as they are (ReZero, arXiv 2404.16364). 0 = off (article: 0)."""


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(_Checked):
    """How the network learns from them."""

    batch_size: int = setting(512, 1, 65_536)
    """Positions in a training batch (article: 256)."""
    training_loops: int = setting(0, 0, 10**6)
    """Batches an iteration; 0 = enough to use each new position `reuse` times (article: 10)."""
    reuse: float = setting(6.0, 0.1, 1000)
    """Times a position is trained on, on average, while it is in the window."""
    duplicate_weight: Literal["linear", "log", "constant"] = setting("log")
    """Weight in training of a position that is n times in the window, up to symmetry: linear = n, log = 1 + log2 n,
    constant = 1 (AlphaZero.jl: log; article: linear)."""
    value_from_search: float = setting(0.25, 0, 1)
    """Weight of the search's value in the value target; the rest is the game's result (article: 0)."""
    optimizer: Literal["sgd", "adamw", "muon"] = setting("muon", fixed=True)
    """SGD with momentum as in the article, AdamW, or Muon for the residual tower with AdamW for the rest."""
    learning_rate: float = setting(0.003, 1e-8, 10)
    """Learning rate at the start (article: 0.1)."""
    learning_rate_schedule: Literal["constant", "steps", "cosine"] = setting("cosine")
    """constant; steps = a tenth after 1/2 and again after 3/4 of the run; cosine = down to 5 % at its end. Progress is
    counted in iterations, minutes or evaluations, whichever is further."""
    warmup_steps: int = setting(100, 0, 10**6)
    """Training steps in which the learning rate rises from 0."""
    momentum: float = setting(0.9, 0, 0.9999)
    """Momentum of SGD (article: 0.9)."""
    weight_average: float = setting(0.0, 0, 0.99999)
    """Decay, per training step, of the running average of the weights that plays; 0 = the trained weights play."""
    reg_const: float = setting(1e-4, 0, 1)
    """L2 penalty on the weights with SGD; AdamW and Muon have none (article: 0.0001)."""
    weight_decay: float = setting(0.1, 0, 1)
    """Decoupled weight decay of AdamW and Muon: a step shrinks the weights by this fraction of the learning rate."""
    lag: int = setting(0, 0, 1)
    """0: play, then learn from these games too. 1: one version plays while the next is learned from the games before.
    Saves time where games and learning do not share their cores: a GPU, other machines (article: 0)."""


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(_Checked):
    """The network's size, its extra training targets, and what evaluates it."""

    network: str | None = setting(None, fixed=True)
    """A network of your own, FILE.py:CLASS; without, the residual one of the article (docs/add_a_network.md)."""
    hidden_cnn_layers: tuple[str, ...] = setting(("64x3",) * 6, fixed=True)
    """FILTERSxKERNEL: the first is a convolution, each further one a residual block of two (article: 75x4, six;
    `laptop` on a processor without AMX: 32x3, six)."""
    normalisation: Literal["batch", "fixed"] = setting("fixed", fixed=True)
    """batch = BatchNormalization as in the article; fixed = none, branches start at zero (1.6 x faster on a CPU)."""
    value_filters: int = setting(8, 1, 1024, fixed=True)
    """Filters of the value head's 1x1 convolution (article: 1)."""
    value_units: int = setting(64, 1, 4096, fixed=True)
    """Units of the value head's dense layer (article: 20)."""
    policy_filters: int = setting(16, 1, 1024, fixed=True)
    """Filters of the policy head's 1x1 convolution (article: 2)."""
    global_pooling: bool = setting(False, fixed=True)
    """Pool over the board in both heads, so that no weight depends on the board's size."""
    many_sizes: bool = setting(False, fixed=True)
    """Network for boards of any size: it pools over the board in every second block as well (KataGo), and boards of
    several sizes are learned together. A game with a range of sizes needs it, and its presets have it."""
    ownership_weight: float = setting(1.5, 0, 100, fixed=True)
    """Loss weight of an extra head for the owner of each point at the game's end, if the game has one (article: 0)."""
    soft_policy_weight: float = setting(1.0, 0, 100, fixed=True)
    """Loss weight of an extra head for the fourth root of the policy target; the policy itself has 0.5 (article: 0)."""
    precision: Literal["auto", "float32", "bfloat16", "int8"] = setting("auto")
    """Number format; auto = bfloat16 if the processor has it (GPU: name it); int8 = as auto, but self-play evaluates in
    8-bit integers."""
    backend: Literal["auto", "keras", "openvino", "onnxruntime"] = setting("auto")
    """Library that evaluates the network; auto = on a CPU OpenVINO or ONNX Runtime if installed, else Keras."""


@dataclass(frozen=True, kw_only=True)
class TournamentSettings(_Checked):
    """When the current network becomes the best."""

    promotion: Literal["sprt", "threshold"] = setting("sprt")
    """Rule by which current becomes best: sprt = a sequential test, threshold = the article's ratio of scores."""
    eval_episodes: int = setting(400, 2, 100_000)
    """Largest number of games in a tournament, in pairs with both colours of an opening (article: 20)."""
    eval_sims: int = setting(64, 1, 60_000)
    """Simulations per move in the tournament (article: mcts_sims)."""
    eval_every: int = setting(10, 1, NO_TOURNAMENT)
    """Iterations from one tournament to the next; a run's last iteration has one, too. 1000000 = none at all, not even
    there (article: 1)."""
    opening_plies: int = setting(4, 0, 1000)
    """Random moves at the start of a tournament game."""
    scoring_threshold: float = setting(1.3, 1, 100)
    """threshold: current is promoted when its score is over this x best's (article: 1.3)."""
    sprt_score: float = setting(0.55, 0.501, 0.99)
    """sprt: the test is "scores this much" against "scores a half", both errors 5 %."""


@dataclass(frozen=True, kw_only=True)
class ScoreboardSettings(_Checked):
    """How the newest network is measured."""

    score_every: int = setting(1, 0, 10**6)
    """Iterations from one scoreboard to the next, if exact values are known; 0 = never."""
    score_positions: int = setting(300, 1, 100_000)
    """Solved positions in which the network chooses a move, alone and after a search."""
    score_sims: int = setting(32, 1, 60_000)
    """Simulations of that search."""
    score_games: int = setting(32, 0, 10_000)
    """Games against rollout players that grow when they are beaten, every `eval_every` iterations with `eval_sims`
    simulations per move; 0 = none."""


class _Group(Generic[G]):
    """A group of a config's settings as a value of its own."""

    def __init__(self, kind: type[G]) -> None:
        self.kind = kind

    def __get__(self, config: Config, owner: type) -> G:
        return self.kind(**{f.name: getattr(config, f.name) for f in dataclasses.fields(self.kind)})


@dataclass(frozen=True, kw_only=True)
class Config(
    ScoreboardSettings, TournamentSettings, NetworkSettings, TrainingSettings, MemorySettings, SearchSettings,
    SelfPlaySettings, RunSettings,
):  # fmt: skip
    """All settings of a run. `config.json` in the run folder holds exactly these fields."""

    search = _Group(SearchSettings)
    selfplay = _Group(SelfPlaySettings)
    memory = _Group(MemorySettings)
    training = _Group(TrainingSettings)
    tournament = _Group(TournamentSettings)
    scoreboard = _Group(ScoreboardSettings)


FIELDS = {f.name: f for f in dataclasses.fields(Config)}
TYPES = typing.get_type_hints(Config)


REMOVED: dict[str, float] = {
    "epochs": 1,
    "fast_positions": 0.0,
    "first_window": 0,
    "late_opening_plies": 0,
    "restart_share": 0.0,
    "search_value_plies": 0,
    "side_share": 0.0,
    "surprise_weight": 0.0,
}
"""Settings of earlier versions, each with the value that switched it off. Their gain was no more than chance. Files of
older runs may hold them."""


def shown(value: Any) -> str:
    """Return a wrong value as text of at most 60 characters."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # integers of thousands of digits, lists a thousand deep
        text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= 60 else text[:57] + "..."


def fault_of(value: Any, kind: Any, low: float | None, high: float | None) -> str | None:
    """Return what was expected, or None when `value` fits."""
    if kind is bool:
        return None if type(value) is bool else "true or false"
    if typing.get_origin(kind) is Literal:
        options = typing.get_args(kind)
        return None if isinstance(value, str) and value in options else "one of " + ", ".join(options)
    if kind is str:
        named = isinstance(value, str) and GAME.match(value)
        return None if named else "the name of a game, such as connect4 or connect4(rows=5,columns=6)"
    if kind == str | None:
        given = value is None or isinstance(value, str) and GAME.match(value)
        return None if given else "FILE.py:CLASS, a network of your own"
    if kind in (int, float):
        allowed = (int,) if kind is int else (int, float)
        word = "a whole number" if kind is int else "a number"
        if type(value) not in allowed or not low <= value <= high or not math.isfinite(value):
            return f"{word} from {low:,} to {high:,}"
        return None
    good = isinstance(value, (tuple, list)) and 1 <= len(value) <= 80
    if not (good and all(isinstance(v, str) and LAYER.match(v) for v in value)):
        return "1 to 80 layers such as 64x3"
    if len({v.split("x")[0] for v in value}) != 1:
        return "the same number of filters in every layer (residual blocks add)"
    return None


def unknown_setting(name: str, known: Iterable[str] = FIELDS) -> str:
    """Say that a name is unknown and suggest the nearest one, or that an earlier version had such a setting."""
    if name in REMOVED:
        return f"{name}: left with version 0.4.0, as it gained nothing (benchmarks/log/README.md)"
    known, text = list(known), str(name)
    near = difflib.get_close_matches(text, known, n=1, cutoff=0.72) or [
        long for long in known if len(text) > 2 and any(word.startswith(text) for word in long.split("_"))
    ]
    return f"unknown setting {shown(name)}" + (f", did you mean {near[0]!r}?" if near else "")


def find_faults(values: dict[str, Any]) -> list[str]:
    """Return one line for each setting that is unknown, of a wrong type or out of range."""
    faults = [unknown_setting(name) for name in values if name not in FIELDS]
    for name, f in FIELDS.items():
        if name in values and (fault := fault_of(values[name], TYPES[name], f.metadata["low"], f.metadata["high"])):
            faults.append(f"{name}: expected {fault}, got {shown(values[name])}")
    return faults or _conflicts(values)


def _conflicts(values: dict[str, Any]) -> list[str]:
    """Return the faults between settings that are each possible alone."""
    window, least = (values.get(name, FIELDS[name].default) for name in ("memory_size", "min_memory"))
    faults = [f"min_memory: expected at most memory_size ({window}), got {least}"] if least > window else []
    if (several := has_range(values.get("game", ""))) and not values.get("many_sizes"):
        faults.append(f"many_sizes: expected true for a range of sizes ({values['game']})")
    shapes = (text.split("x") for text in values.get("hidden_cnn_layers", FIELDS["hidden_cnn_layers"].default))
    weights = sum(2 * (int(filters) * int(size)) ** 2 for filters, size in shapes)  # of two convolutions each
    if weights > MOST_WEIGHTS:
        faults.append(f"hidden_cnn_layers: expected at most {MOST_WEIGHTS:,} weights, got about {weights:,}")
    if values.get("selfplay_with") == "best" and values.get("eval_every") == NO_TOURNAMENT:
        faults.append("selfplay_with: expected current where eval_every means no tournament (1000000), got best")
    again = values.get("reanalyse_share")
    if again and several:
        faults.append(f"reanalyse_share: expected 0 for a range of sizes, got {again}")
    if again and values.get("lag"):
        faults.append("lag: expected 0 with reanalyse_share, which comes between a game and learning from it, got 1")
    return faults


PLAIN_SEARCH = SearchSettings(proofs=False, look_ahead=0, endgame=0)
"""Search with the network alone: nothing is proven or solved."""


def with_overrides(config: Config, /, **changes: Any) -> Config:
    """Return a config with some fields changed; raise `SettingsError` naming every impossible one.

    >>> with_overrides(Config(), cpuct=2.0).cpuct
    2.0
    """
    if faults := find_faults({**dataclasses.asdict(config), **changes}):
        raise SettingsError("\n".join(faults))
    return dataclasses.replace(config, **changes)


def to_json(config: Config) -> str:
    """Return the settings as JSON, one a line."""
    return json.dumps(dataclasses.asdict(config), indent=2) + "\n"


def _object_of(text: str, source: str) -> dict[str, Any]:
    """Return the object that a JSON text holds; raise `SettingsError` when it holds none."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{source}: expected JSON, got {str(error)[:80]}") from None
    if not isinstance(values, dict):
        raise SettingsError(f"{source}: expected an object of settings, got {type(values).__name__}")
    return values


def removed_settings(text: str, source: str = "config.json") -> dict[str, Any]:
    """Return {name: value} of the settings in a config's text that an earlier version had and that were not off."""
    return {n: v for n, v in _object_of(text, source).items() if n in REMOVED and v != REMOVED[n]}


def from_json(text: str, source: str = "config.json") -> Config:
    """Read settings, without those that this version no longer has; raise `SettingsError` when the text is no valid
    config."""
    values = {name: value for name, value in _object_of(text, source).items() if name not in REMOVED}
    if isinstance(values.get("look_ahead"), bool):  # of older runs: on or off
        values["look_ahead"] = 2 * values["look_ahead"]
    if {"game", "seed", "mcts_sims"} <= values.keys():  # a run lists all settings; older runs had none of these
        older = dict.fromkeys(("grow_sims", "endgame", "ownership_weight", "soft_policy_weight"), 0)
        values = {**older, "weight_decay": values.get("reg_const", 0.0), "duplicate_weight": "linear", **values}
    if faults := find_faults(values):
        raise SettingsError("\n".join(f"{source}: {fault}" for fault in faults))
    return Config(**values)


def differences(old: Config, new: Config) -> dict[str, tuple[Any, Any]]:
    """Return {name: (old, new)} of the settings that differ."""
    pairs = {name: (getattr(old, name), getattr(new, name)) for name in FIELDS}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def is_fixed(name: str) -> bool:
    """Return whether a setting cannot change while a run lives."""
    return bool(FIELDS[name].metadata["fixed"])


def layers(network: NetworkSettings) -> list[tuple[int, int]]:
    """Return (filters, kernel size) of each entry of `hidden_cnn_layers`."""
    return [(int(a), int(b)) for a, b in (text.split("x") for text in network.hidden_cnn_layers)]
