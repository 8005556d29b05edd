"""Makes players by name, in one grammar for all commands (`names.PLAYERS`); accepts the names that players have, too.

A name is a network, a level, or one of `KINDS` by the head before its colon; plugins add heads of their own. Any
name but these may end in `+book`: known positions are answered from the game's opening book, or from `+book:FILE`.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from agent import Agent, Player, User
from config import Config, UserError
from game import Game
from games.own import digest
from network.choose_predictor import choose_backend, make_predictor
from network.stored_network import open_network, untrained
from network.symmetric_predictor import AveragedPredictor
from players.levels import AS_MEASURED, NETWORKS, Level, find_level, level_number
from players.names import ADDED, PLAYERS
from players.runs_of_many_sizes import family_run, is_trained_on, note, plays
from search.tables import ENDLESS
from storage import run_folders
from storage.checkpoints import read_weights
from storage.run_folders import find_run, runs_of, settings_of, shipped_run
from storage.run_store import Store
from system.plugins import load
from system.shell import quoted

_NETWORK = re.compile(
    r"(?P<net>net:)?(?P<sym>sym:)?(?P<int8>int8:)?"
    r"(shipped|((?P<owner>shipped|run[0-9]{1,6}):)?(?P<which>best|current|version(?P<version>[0-9]{1,6})))"
    r"(:(?P<seconds>[0-9]{1,4}(\.[0-9]{1,2})?)s)?"
)
_BOOK = re.compile(r"(?P<player>.+?)\+book(:(?P<file>.+))?", re.IGNORECASE)
_LEVEL = re.compile(r"level[: ]([0-9]{1,3}|[a-z]{1,20})( \(elo -?[0-9]+\))?")
Make = Callable[[Game, str, str], Player]
_LOGGER = logging.getLogger("alphazero.players")
TREES_BYTES = 2**29
"""Memory limit for the tree of a network with a time limit."""


def make_player(name: str, game: Game, *, sims: int = 400, root: Path | None = None, **options: Any) -> Player:
    """Return the player with this name; raise `UserError` with the valid forms."""
    text = name.strip()
    head, _, rest = text.partition(":")
    if head.lower() in ADDED:
        plugin, new = ADDED[head.lower()]
        player: Player = load(plugin, new.make)(game, rest)
        return player
    if match := _BOOK.fullmatch(text):
        from players.book import BookPlayer, find_book

        player = make_player(match["player"], game, sims=sims, root=root, **options)
        return BookPlayer(player, find_book(game, match["file"]), match["file"])
    text = text.lower()
    if match := _LEVEL.fullmatch(text):
        number = level_number(game.spec, match[1])
        level = find_level(game.spec, number)
        player = level_player(level, game, **options)
        player.name = f"level {number} (Elo {level.elo:.0f})"
        return player
    if match := _NETWORK.fullmatch(text):
        return _network(match, game, name, sims, root, options)
    head, _, rest = text.partition(":")
    if head not in KINDS:
        raise _unknown(name)
    return KINDS[head](game, rest, name)


class Named(NamedTuple):
    """A version of a run that a player's name means."""

    folder: Path
    version: int
    forms: str
    """How it plays: "net:", "sym:", "int8:", or nothing."""
    book: str

    def called(self, which: str) -> str:
        """Return the player's name with another name of the version, e.g. "run0001:best"."""
        return f"{self.forms}{which}{self.book}"


def network_named(name: str, game: Game, root: Path | None = None) -> Named | None:
    """Return the version that a network's name means, None for any other player; a clock is not looked at."""
    head, book, _ = name.strip().lower().partition("+book")
    match = _NETWORK.fullmatch(head)
    if match is None:
        return None
    folder = run_folder(game, _run_of(match), root)
    store = Store(folder / "run.db", read_only=True)
    try:
        version = _number_of(store, _version_of(match))
    finally:
        store.close()
    return Named(folder, version, "".join(match[form] or "" for form in ("net", "sym", "int8")), book)


def level_player(level: Level, game: Game, **options: Any) -> Player:
    """Return the player of a level; `options` as in `make_player`."""
    if level.player not in NETWORKS:
        return make_player(level.player, game, sims=max(level.sims, 1), **options)
    from players.tempered import of_level

    network = network_player(game, 0, "best", **{**options, **AS_MEASURED, "sims": max(level.sims, 1)})
    return of_level(level, network)


def _network(
    match: re.Match[str], game: Game, name: str, sims: int, root: Path | None, options: dict[str, Any]
) -> Player:
    """Return a player with a network, with or without search."""
    if match["seconds"] is not None:
        if match["net"]:
            raise UserError(f"expected a clock for a network that searches, without net:, got {name[:60]!r}")
        sims, options = ENDLESS, {**options, "tree_bytes": TREES_BYTES, "seconds": _seconds(match["seconds"], name)}
    forms: dict[str, Any] = {"averaged": bool(match["sym"]), "in_8_bits": bool(match["int8"])}
    agent = network_player(game, _run_of(match), _version_of(match), sims=sims, root=root, **forms, **options)
    if not match["net"]:
        return agent
    from players.network_alone import PolicyPlayer

    return PolicyPlayer(agent)


def _run_of(match: re.Match[str]) -> int | None:
    """Return the number of the run that a network's name means: None for the newest, 0 for the one that ships."""
    owner = match["owner"] or ("" if match["which"] else "shipped")
    return None if not owner else 0 if owner == "shipped" else int(owner[3:])


def _version_of(match: re.Match[str]) -> int | str:
    return int(match["version"]) if match["version"] else match["which"] or "best"


def _number_of(store: Store, version: int | str) -> int:
    return int({"best": store.best(), "current": store.newest().version}.get(str(version), version))


def _seconds(text: str, name: str) -> float:
    if not float(text):
        raise UserError(f"expected more than 0 seconds, got {name[:60]!r}")
    return float(text)


def one_at_a_time(name: str) -> bool:
    """Return whether the named player plays one game after the other: a person, a program, one with a time limit."""
    text = name.strip().lower()
    return text.partition(":")[0] in ADDED or re.match(r"human|-1|.*:[0-9.]+s\b", text) is not None


class Budget(NamedTuple):
    """What a player may use for a move: a number of plies or simulations, or seconds."""

    number: int | None
    seconds: float | None


def _budget(rest: str, name: str, most: int, what: str) -> Budget:
    """Read a budget such as "5000" or "0.5s". what: plies or simulations, at most `most` of them."""
    if re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,2})?s", rest, re.ASCII):
        return Budget(None, _seconds(rest[:-1], name))
    if not re.fullmatch(r"[0-9]+", rest, re.ASCII):
        raise _unknown(name)
    if not (len(rest) < 8 and 1 <= int(rest) <= most):
        raise UserError(f"expected from 1 to {most:,} {what}, got {name[:60]!r}")
    return Budget(int(rest), None)


def _rollout(game: Game, rest: str, name: str) -> Player:
    from players.rollout import RolloutPlayer

    budget = _budget(rest, name, 9_999_999, "simulations")
    return RolloutPlayer(game, sims=budget.number, seconds=budget.seconds)


def _alphabeta(game: Game, rest: str, name: str) -> Player:
    from players.alphabeta import AlphaBetaPlayer

    budget = _budget(rest, name, 60, "plies")
    return AlphaBetaPlayer(game, depth=budget.number, seconds=budget.seconds)


def _uct(game: Game, rest: str, name: str) -> Player:
    from players.uct import UCTPlayer

    budget = _budget(rest, name, 9_999_999, "simulations")
    if budget.number is None:
        raise UserError(f"expected a number of simulations such as uct:1000, got {name[:60]!r}")
    return UCTPlayer(game, budget.number)


def _random(game: Game, rest: str, name: str) -> Player:
    from players.simple import RandomPlayer

    return RandomPlayer(game)


def _greedy(game: Game, rest: str, name: str) -> Player:
    from players.greedy import GreedyPlayer

    return GreedyPlayer(game)


def _solver(game: Game, rest: str, name: str) -> Player:
    from players.solver import solver

    return solver(game)


def _human(game: Game, rest: str, name: str) -> Player:
    return User("human", game)


def _one_word(make: Make) -> Make:
    """Return a factory that refuses what follows the word that is the player's name."""

    def checked(game: Game, rest: str, name: str) -> Player:
        if ":" in name:
            raise _unknown(name)
        return make(game, rest, name)

    return checked


KINDS: dict[str, Make] = {
    "rollout": _rollout,
    "alphabeta": _alphabeta,
    "uct": _uct,
    "random": _one_word(_random),
    "greedy": _one_word(_greedy),
    "solver": _one_word(_solver),
    "human": _one_word(_human),
    "-1": _one_word(_human),
}
"""{head of a player's name: (game, what follows its colon, the whole name) -> player}; each loads what it needs."""


def _unknown(name: str) -> UserError:
    """Return the error for an invalid name, with the forms nearest to it first."""
    text, forms = name.strip().lower(), PLAYERS.split(", ")
    by_head = {form.split(":")[0].split("+")[0]: form for form in reversed(forms)}
    head = text.split(":")[0].split("+")[0]
    near = difflib.get_close_matches(text, forms, n=1, cutoff=0.6) or [
        by_head[found] for found in difflib.get_close_matches(head, by_head, n=1, cutoff=0.6)
    ]
    such = "best, level:3, rollout:5000, alphabeta:6, random, human"
    hint = f"did you mean {near[0]!r}? " if near else ""
    return UserError(f"{hint}expected a player such as {such}, got {name[:40]!r}; docs/play.md lists all")


def network_player(
    game: Game, run: int | None, version: int | str, *, sims: int = 400, root: Path | None = None, smallest: int = 1,
    averaged: bool = False, in_8_bits: bool = False, changes: dict[str, Any] | None = None, **options: Any,
) -> Agent:
    """Return a player with a trained network, of the newest run unless one is named; nothing is written.

    It searches with the run's settings and for wins by force, where the game finds them, except for `changes`;
    `options` are those of `Agent`. `smallest`: batches are padded to at least this size; with `predictor.STEADY`
    evaluations do not depend on the batch. `averaged`: evaluations are averaged over the board's symmetries.
    `in_8_bits`: it evaluates in 8 bits where the network can (network/int8.py); if not, its name does not say so.
    """
    folder = run_folder(game, run, root)
    own = "shipped" if folder.is_relative_to(run_folders.SHIPPED) else folder.name
    config = settings_of(folder)
    if plays(config.game, game) and config.game != game.spec:
        _LOGGER.warning("%s", note(config.game, game))
    elif config.game != game.spec:
        raise UserError(f"{folder.name}: expected a model of {game.spec}, got one of {config.game}")
    model, number = model_of(game, folder, config, own, version)
    backend = "openvino" if in_8_bits else config.backend
    predictor = make_predictor(model, backend=backend, smallest=smallest, in_8_bits=in_8_bits)
    if in_8_bits and getattr(predictor, "scales", None):
        own = f"int8:{own}"
    elif in_8_bits:
        _LOGGER.warning("int8:%s:version%04d plays in %s: 8 bits do not suit its network", own, number, model.precision)
    if averaged:
        predictor, own = AveragedPredictor(predictor, game), f"sym:{own}"
    clock = f":{options['seconds']:g}s" if "seconds" in options else ""
    forced = {"forced_wins": 2} if game.forced else {}
    name, search = f"{own}:version{number:04}{clock}", replace(config.search, **{**forced, **(changes or {})})
    return Agent(name, game, predictor, search, mcts_sims=sims, model=model, **options)


def model_of(game: Game, folder: Path, config: Config, own: str, version: int | str) -> tuple[Any, int]:
    """Return (the network of a run with a version's arrays, the version's number); `own`: the run's name in texts.

    It is a `StoredNetwork`, which loads no Keras, unless only Keras can evaluate it here.
    """
    store = Store(folder / "run.db", read_only=True)
    try:
        made_for = store.get("game")
        if made_for != game.spec and not plays(config.game, game):
            raise UserError(f"{folder.name}: expected a model of {game.spec}, got one of {made_for}")
        if store.get("rules", "") != digest(game):
            _LOGGER.warning("the rules have changed since %s learned them", folder.name)
        newest = store.newest().version
        number = _number_of(store, version)
        if own == "shipped" and number != newest:
            raise UserError(f"expected version{newest:04} of {game.spec}, which ships, got version{number:04}")
        library = choose_backend(config.backend)
        model: Any = None if library == "keras" else open_network(folder, store, config, game, library)
        if model is None:
            from model import make_network  # slow to load

            model = make_network(config, game, typed=False)
        weights = read_weights(folder, store, number, model.shapes)
        if (version, number) == ("best", 0) and untrained(store, model, weights):
            why = "no tournament was won yet; current is the newest" if newest else "no training has ended yet"
            also = (", " if newest else "; ") + "shipped is the one that ships" if shipped_run(game.spec) else ""
            _LOGGER.warning("%s's best is version 0, which has learned nothing: %s%s", own, why, also)
        model.set_weights(weights)
        return model, number
    finally:
        store.close()


class NoNetwork(UserError):
    """There is no run of a game, and none ships."""


def run_folder(game: Game, run: int | None, root: Path | None = None) -> Path:
    """Return the folder of a run: the newest, or the one that ships, unless one is named.

    Without one of the very game, it is the run of a network for many sizes that plays it, one trained on its board if
    there is one; raise `NoNetwork` where there is none either.
    """
    own, ships = runs_of(game.spec, root), shipped_run(game.spec)
    if run is not None:
        there = ships if run == 0 else any(int(folder.name[3:]) == run for folder in own)
        folder = None if there else family_run(game, run, root)
        return folder or find_run(game.spec, run, root)
    found = [*own[-1:], family_run(game, None, root), ships, family_run(game, 0)]
    known = [folder for folder in found if folder is not None]
    for folder in known:
        spec = settings_of(folder).game
        if spec == game.spec or is_trained_on(spec, game):
            return folder
    if known:
        return known[0]
    command = f"python main.py --game {quoted(game.spec)}"
    raise NoNetwork(f"expected a trained run of {game.spec}, there is none; `{command}` makes one")
