"""The start of a run from another run's work: its network, enlarged if need be, and its games."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import games
from config import Config, UserError, find_faults, layers
from game import Game
from games.sizes import family
from network.net2net import enlarged, holds
from network.predictor import TOLERANCE, random_positions
from storage.checkpoints import read_weights
from storage.game_record import GameRecord
from storage.run_folders import EXTRA_HEADS, network_facts, read_config
from storage.run_store import Store
from storage.verify import require_games_by_rules, rules_changed

_LOGGER = logging.getLogger("alphazero.warm_start")
SHOWN = 6
"""Most boards that an error names."""


def _network_of(source: Path, store: Store, config: Config, game: Game) -> tuple[Config, Game]:
    """Return `config` with the layers and extra heads of another run's network, and the game for which it is built.

    Raises `UserError` if that network has no place in the one of `config`. It may have learned other rules of the game.
    """
    config = replace(config, **{n: getattr(read_config(source), n) for n in EXTRA_HEADS})
    theirs = json.loads(store.get("model") or "{}")
    ours = json.loads(json.dumps(network_facts(config, game)))
    unlike = [n for n in (*ours, "network") if theirs.get(n) != ours.get(n)]
    if "game" in unlike and str(theirs.get("game")).split("(")[0] == ours["game"].split("(")[0]:
        unlike.remove("game")
    if _gains_others(theirs, ours):
        unlike.remove("action_size")
        game = games.make(read_config(source).game, typed=False)
    if not unlike:
        return config, game
    message = "; ".join(f"{n}: {ours.get(n)} expected, {theirs.get(n)} came" for n in unlike)
    if unlike == ["hidden_cnn_layers"]:
        given = theirs.get("hidden_cnn_layers")
        if isinstance(given, list) and not find_faults({"hidden_cnn_layers": given}):
            smaller = replace(config, hidden_cnn_layers=tuple(given))
            if config.normalisation == "fixed" and holds(layers(config), layers(smaller)):
                return smaller, game
        message += " (one with fewer filters or blocks and the same kernels would do, with normalisation fixed)"
    raise UserError(f"{source.name} has another network: {message}")


def _gains_others(theirs: dict[str, Any], ours: dict[str, Any]) -> bool:
    """Return whether a game of many sizes has moves that are no points, as Hex its swap, where the other has none."""
    many = ours.get("many_sizes") and theirs.get("many_sizes")
    return bool(many and theirs.get("action_size") == 0 < ours["action_size"])


def taken_over(
    config: Config,
    game: Game,
    model: Any,
    build: Callable[[Config, Game], Any],
    source: Path | None,
    version: int | None,
    last: int | None,
) -> tuple[list[np.ndarray] | None, list[GameRecord]]:
    """Return (weights, games) of another run to begin with: a version's weights, the games up to iteration `last`.

    A smaller network, or one with other extra heads, becomes the one of `config`; in boards of many sizes also one of a
    game without moves that are no points, whose logits then begin at random. model: the network of `config`; build:
    makes others.
    """
    if source is None:
        return None, []
    store = Store(source / "run.db", read_only=True)
    try:
        weights, memory = None, []
        if version is not None:
            own, theirs = _network_of(source, store, config, game)
            other = model if own == config and theirs is game else build(own, theirs)
            weights = read_weights(source, store, version, [w.shape for w in other.get_weights()])
            fresh = model.named_weights() if other is not model else []
            if fresh and [w.shape for _, w in fresh] != [w.shape for w in weights]:
                names = [name for name, _ in other.named_weights()]
                extra = tuple(n.removesuffix("weight") for n in EXTRA_HEADS)  # the names of their layers begin so
                lost = [n for n in names if n not in dict(fresh) and not n.startswith(extra)]
                if lost:  # layers without names have other names in another network
                    raise UserError(f"{source.name} has another network: no place for {', '.join(lost)[:60]}")
                smaller = weights
                weights = enlarged(list(zip(names, weights, strict=True)), fresh)
                if config.network and theirs is game:
                    _require_same_answers(source.name, (model, weights), (other, smaller))
        if last is not None:
            _require_rules(source.name, store.get("game") or game.spec, game)
            if rules_changed(store, game):
                require_games_by_rules(store, game, source.name)
            done = store.iterations_done()
            if not 0 <= last <= done or not store.count_games():
                wanted = f"from 0 to {done}" if store.count_games() else "of a run with games"
                raise UserError(f"initial_memory_version: expected an iteration {wanted}, got {last} of {source.name}")
            found = [record for _, record in store.games(config.memory_size, last + 1, game.sizes)]
            if not found:  # none on our boards: `_on_boards` names theirs
                found = [record for _, record in store.games(config.memory_size, last + 1)]
            memory = [record._replace(index=i) for i, record in enumerate(_on_boards(found, game, source.name))]
        return weights, memory
    finally:
        store.close()


def _require_same_answers(name: str, *networks: tuple[Any, list[np.ndarray]]) -> None:
    """Raise `UserError` if two networks with these weights answer differently; leave both as they are.

    A network of your own may have layers that do not grow: a dense layer after Flatten reads other points then.
    """
    answers = []
    for model, weights in networks:
        before = model.get_weights()
        model.set_weights(weights)
        answers.append(model.predict(random_positions(model.game, 8)))
        model.set_weights(before)
    near = zip(*answers, TOLERANCE["float32"], strict=True)
    if not all(np.allclose(ours, theirs, rtol=0, atol=most) for ours, theirs, most in near):
        raise UserError(
            f"{name} has another network: with more filters it would answer differently; only layers whose inputs do "
            "not mix points and filters can grow (docs/add_a_network.md)"
        )


def _require_rules(name: str, theirs: str, game: Game) -> None:
    """Raise `UserError` if a run's games follow other rules, those of `theirs`, than those of `game`."""
    if family(theirs) != family(game.spec):
        raise UserError(f"initial_memory_version: expected games of {game.spec}, {name} has those of {theirs}")


def _on_boards(records: list[GameRecord], game: Game, name: str) -> list[GameRecord]:
    """Return the games on boards that `game` has, and say how many others there are; `name`: of the run they are from.

    Raises `UserError` if there are only others.
    """
    if not game.sizes:
        return records
    known = {each.spec for each in game.sizes}
    kept = [record for record in records if record.board in known]
    left = len(records) - len(kept)
    if left and not kept:
        boards = sorted({record.board for record in records}, key=lambda board: (len(board), board))
        theirs = ", ".join(boards[:SHOWN]) + (f" and {len(boards) - SHOWN} more" if len(boards) > SHOWN else "")
        raise UserError(
            f"initial_memory_version: expected games on boards of {game.spec}, {name} has those of {theirs}"
        )
    if left:
        _LOGGER.warning("%d of %d games of %s are left out: %s has no such boards", left, len(records), name, game.spec)
    return kept
