"""Presets: settings to start from, and what suits a game and the processor. A game's own preset is in its file.

Nothing heavy is imported: `--help` shows these values.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Container
from functools import cache
from pathlib import Path
from typing import Any

from config import FIELDS, Config, UserError, differences, has_range, with_overrides
from network.cpu_features import has_tiles
from system.syntax import syntax_of

GAMES = Path(__file__).parents[1] / "games"
_PLAIN = {"ownership_weight": 0.0, "soft_policy_weight": 0.0, "weight_decay": 1e-4, "duplicate_weight": "linear"}
CLASSIC = {
    "episodes": 30, "mcts_sims": 50, "full_search_share": 1.0, "grow_sims": 0, "turns_until_tau0": 10, "cpuct": 1.0,
    "random_opening_share": 0.0, "epsilon": 0.2, "alpha": 0.8, "fpu_reduction": -1.0, "games_in_flight": 30,
    "proofs": False, "look_ahead": 0, "endgame": 0, "selfplay_with": "best",
    "memory_size": 30_000, "min_memory": 30_000, "batch_size": 256, "training_loops": 10, "value_from_search": 0.0,
    "optimizer": "sgd", "learning_rate": 0.1, "learning_rate_schedule": "constant", "warmup_steps": 0,
    "hidden_cnn_layers": ("75x4",) * 6, "normalisation": "batch", "value_filters": 1, "value_units": 20,
    "policy_filters": 2, **_PLAIN, "promotion": "threshold", "eval_episodes": 20, "eval_sims": 50, "eval_every": 1,
}  # fmt: skip
"""The article's settings."""
GPU = {
    "episodes": 16384, "games_in_flight": 2048, "hidden_cnn_layers": ("128x3",) * 11, "mcts_sims": 400, "fast_sims": 80,
    "full_search_share": 0.25, "grow_sims": 0, "reuse": 4.0, "batch_size": 1024, "memory_size": 1_000_000,
    "min_memory": 50_000, "cache_size": 1 << 20, "optimizer": "adamw", "learning_rate": 0.002, **_PLAIN,
}  # fmt: skip
SMALL = {"hidden_cnn_layers": ("32x3",) * 6}
"""`laptop` without AMX, but for tic-tac-toe: a quarter of the work (benchmarks/RESULTS.md)."""
PRESETS = "tiny", "classic", "laptop", "gpu"
OF_TINY = "tictactoe"
"""The game of preset `tiny`."""
FITTED = "hidden_cnn_layers", "episodes", "memory_size", "min_memory", "eval_episodes", "grow_sims", "warmup_steps"
"""What follows from minutes and cores (training/budget.py)."""
OF_GAME = (
    "episodes", "gumbel", "mcts_sims", "fast_sims", "grow_sims", "reuse", "memory_size", "min_memory", "eval_episodes",
    "ownership_weight", "soft_policy_weight", "duplicate_weight", "random_opening_plies", "turns_until_tau0",
)  # fmt: skip
"""What follows from a game that has no preset (training/unknown_game.py)."""
_FAMILY = re.compile(r"\s*(\w+)\s*(?:\([^()]*\)\s*)?\Z")
"""The name of a built-in game; matches no file, whatever its name, and no game of OpenSpiel."""


def preset(name: str, /, cores: int | None = None, **changes: Any) -> Config:
    """Return the settings of a preset, with changes; `laptop` also takes what suits the game and the processor.

    cores: of a run with `minutes`, see `fitted`. A game's preset is without reanalysis where that is impossible: for a
    range of sizes, and with `lag`.

    >>> preset("classic").hidden_cnn_layers[0]
    '75x4'
    """
    found = unfitted(name, **changes)
    return fitted(found, changes, cores) if name == "laptop" else found


def unfitted(name: str, /, **changes: Any) -> Config:
    """Return a preset as `preset` does, before it is `fitted`: your own game's file is not read."""
    if name not in PRESETS:
        near = difflib.get_close_matches(name, PRESETS, n=1, cutoff=0.3)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UserError(f"expected a preset out of {', '.join(PRESETS)}, got {name!r}{hint}")
    game = str(changes.get("game", FIELDS["game"].default))
    settings, several = _settings(name, game), has_range(game)
    if several or changes.get("lag"):
        settings.pop("reanalyse_share", None)
    return with_overrides(Config(**settings), **{"many_sizes": several, **changes})


def fitted(config: Config, given: Container[str], cores: int | None = None) -> Config:
    """Return settings of preset `laptop` that suit a game without a preset, and the minutes if there is such a limit.

    given: the names of settings that somebody chose, which stay. cores: that the minutes are of; None: of this process.
    """
    own = not has_preset(config.game)
    if not (own or config.minutes):
        return config
    from games import make
    from network.predictor import cores as here
    from training.budget import suited
    from training.unknown_game import settings_for

    def changed(config: Config, values: dict[str, Any]) -> Config:
        return with_overrides(config, **{name: value for name, value in values.items() if name not in given})

    game = make(config.game)
    if own:
        config = changed(config, settings_for(game))
    if config.minutes:
        config = changed(config, suited(game, config, (cores or here()) * config.minutes, given))
    return config


def as_options(config: Config, name: str = "laptop") -> list[str]:
    """Return the options of `train` with which a run of a preset has these settings, with the defaults of today.

    What depends on the processor, or on the cores where minutes are given, is named whatever it is.
    """
    changed = {setting: new for setting, (_, new) in differences(unfitted(name, game=config.game), config).items()}
    if name == "laptop":
        changed |= {setting: getattr(config, setting) for setting in following(config)}
    words = []
    for setting, value in changed.items():
        flag = setting.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", *(value if isinstance(value, tuple) else [str(value)])]
    return words


def following(config: Config) -> tuple[str, ...]:
    """Return the names of what follows from the processor, the minutes and the game of a run of preset `laptop`.

    A run keeps them, also where minutes that are left, another processor or another file of the game suggest others.
    """
    of_minutes, of_game = FITTED if config.minutes else (), () if has_preset(config.game) else OF_GAME
    return tuple(dict.fromkeys(("hidden_cnn_layers", *of_minutes, *of_game)))


def has_preset(game: str) -> bool:
    """Return whether a game is built in; else `fitted` finds its settings.

    >>> has_preset("gomoku(size=15)"), has_preset("go (1).py:Mine"), has_preset("open_spiel:go")
    (True, False, False)
    """
    return bool(_FAMILY.match(game))


def preset_for(game: str) -> str:
    """Return the name of the preset that suits a game on any machine.

    >>> preset_for("tictactoe"), preset_for("connect4")
    ('tiny', 'laptop')
    """
    return "tiny" if game == OF_TINY else "laptop"


def _settings(name: str, game: str) -> dict[str, Any]:
    """Return the settings of a preset that differ from `Config`'s defaults."""
    if name == "tiny":
        return {"game": OF_TINY, **game_preset(OF_TINY)}
    if name == "laptop":
        family = _FAMILY.match(game)
        return {**({} if has_tiles() else SMALL), **game_preset(family[1].lower() if family else "")}
    return CLASSIC if name == "classic" else GPU


@cache
def game_preset(name: str) -> dict[str, Any]:
    """Return what `laptop` sets for a built-in game of any size: the literal `PRESET` in its file, if there is one.

    The file is read, not imported: a game's rules load a compiler, which takes longer than showing a help text.
    """
    path = GAMES / f"{name}.py"
    tree = syntax_of(path.read_text(encoding="utf-8") if name and path.is_file() else "")
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PRESET":
            found: dict[str, Any] = ast.literal_eval(node.value)
            return found
    return {}
