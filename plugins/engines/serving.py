"""Which game and player serve another program: a size or a komi chooses the network that was trained for it.

Where no network knows exactly these rules, one for the same board evaluates and our rules decide: a komi or a rule of
gomoku changes no plane that a network sees.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from typing import Any

import numpy as np

import games
from agent import Agent, Player
from config import UserError, has_range
from game import Game
from games.parameters import values_of
from games.sizes import BOARD
from players.book import BookPlayer
from players.by_name import make_player, network_named
from players.network_alone import PolicyPlayer
from players.runs_of_many_sizes import is_trained_on
from players.tempered import TemperedPlayer
from storage import run_folders

KEPT = 4
"""Networks in memory at once."""
KNOWN = 1000
"""Games whose network is remembered by its place."""
NETWORKS = Agent, PolicyPlayer, TemperedPlayer
"""Players that a network makes: it can evaluate for other rules of its board."""


def changed(game: Game, **parameters: int | float | str) -> Game:
    """Return a game with other parameters; raise `UserError` if its rules know none such."""
    given = {**game.parameters, **parameters}
    words = {key: f"{value:g}" if isinstance(value, float) else value for key, value in given.items()}
    inside = ",".join(f"{key}={word}" for key, word in words.items())
    return games.make(f"{game.origin or game.name}({inside})" if inside else game.origin or game.name)


def variants(game: Game) -> list[Game]:
    """Return the games with the same board of which there are networks, those nearest to a game's parameters first."""
    seen, found = set(), {game.spec: game}
    for root in (run_folders.RUNS, run_folders.SHIPPED):
        of_name = [p for p in run_folders.folders_in(root) if p.name.startswith(run_folders.game_folder(game.name))]
        for folder in (folder for place in of_name for folder in run_folders.runs_in(place)):
            with suppress(UserError):
                spec = run_folders.read_config(folder).game
                if spec.split("(")[0] == game.name and spec not in seen:
                    seen.add(spec)
                    other = games.make(spec, typed=False)
                    other = _on_board_of(game, other) if has_range(spec) else other
                    found.setdefault(other.spec, other)
    del found[game.spec]
    fit = [other for other in found.values() if _form(other) == _form(game)]
    return sorted(fit, key=lambda other: _distance(game, other))


def _on_board_of(game: Game, other: Game) -> Game:
    """Return another game of the same name, whose network plays every board, on the board of a game."""
    return changed(other, **{name: value for name, value in values_of(game).items() if name in BOARD})


def _form(game: Game) -> tuple[Any, ...]:
    """Return what a network cannot do without: the same planes, actions and whole numbers, such as five in a row."""
    named = values_of(game).items()
    numbers = tuple(value for name, value in named if type(value) is int and name not in (*BOARD, "plies"))
    return game.input_shape, game.action_size, numbers


def _distance(game: Game, other: Game) -> tuple[int, float]:
    """Return how far the rules of two games are apart: parameters that are words, then the difference of komi."""
    words = {key for g in (game, other) for key, value in g.parameters.items() if isinstance(value, str)}
    differ = sum(game.parameters.get(key) != other.parameters.get(key) for key in words)
    return differ, abs((game.komi or 0.0) - (other.komi or 0.0))


def _learned(player: Player) -> str:
    """Return the name of the game that a player's network learned, "" for a player without one."""
    if not isinstance(player, NETWORKS):
        return ""
    return str((player if isinstance(player, Agent) else player.agent).model.config.game)


def _is_strange(player: Player, game: Game) -> bool:
    """Return whether a player's network is one of many sizes that was not trained on a game's board."""
    spec = _learned(player)
    return has_range(spec) and not is_trained_on(spec, game)


class PlayerSource:
    """Players of one name for the games that another program asks for."""

    def __init__(self, name: str, *, sims: int, seed: int = 0) -> None:
        self.name, self._sims, self.seed = name, sims, seed
        self._networks: OrderedDict[Hashable, Agent] = OrderedDict()
        self._keys: dict[str, Hashable] = {}
        """{name of a game: the key of its network}"""
        self.note = ""
        """What another program's user should know of the last player, one line; may be empty."""
        self.komi: float | None = None
        """The komi that the last player's network learned; None without a network, or where there is none."""

    def player(self, game: Game) -> Player:
        """Return the player for a game; raise `UserError` if there is none for its board.

        A network that was trained on the board under other rules comes before one of many sizes that never saw it.
        """
        self.note, self.komi = "", None
        found: Player | None = None
        try:
            found = self._player(game)
            if not _is_strange(found, game):
                return self._ready(found, game)
        except UserError as error:
            missing = error
        for other in variants(game):
            with suppress(UserError):
                player = self._player(other)
                if isinstance(player, NETWORKS) and (found is None or not _is_strange(player, game)):
                    return self._ready(player, game)
        if found is None:
            raise missing
        return self._ready(found, game)

    def komi_for(self, game: Game) -> float | None:
        """Return the komi that the network for a game's board learned; None where none was trained on that board."""
        player = self.player(game)
        return None if _is_strange(player, game) else self.komi

    def _ready(self, player: Player, game: Game) -> Player:
        """Return a player with this game's rules; one with a search gets trees of its own."""
        if player.is_person:
            raise UserError(f"expected a player that needs nobody, got {self.name!r}")
        if isinstance(player, BookPlayer):
            player.player = self._ready(player.player, game)
            return player
        self._take_note(_learned(player), game)
        if isinstance(player, Agent):
            return self._twin(player, game)
        if isinstance(player, (PolicyPlayer, TemperedPlayer)) and player.game is not game:
            return player.with_network(self._twin(player.agent, game))
        return player

    def _take_note(self, spec: str, game: Game) -> None:
        """Note what differs between a game and that of a network's name, wherever the network was found."""
        if not spec:
            return
        learned = games.make(spec, typed=bool(game.origin))
        if has_range(spec) and is_trained_on(spec, game):
            learned = _on_board_of(game, learned)
        self.komi = learned.komi
        if learned.spec != game.spec:
            self.note = f"no network was trained for {game.spec}: that of {learned.spec} evaluates"

    def _player(self, game: Game) -> Player:
        """Return the player for a game; networks are kept, to be shared by their twins.

        A network that plays many rules on one board, such as any komi, is loaded once for that board.
        """
        if game.spec not in self._keys:
            if len(self._keys) >= KNOWN:
                self._keys.clear()
            named = network_named(self.name, game)
            self._keys[game.spec] = game.spec if named is None else (named.folder, named.version, _form(game))
        key = self._keys[game.spec]
        if key not in self._networks:
            player = make_player(self.name, game, sims=self._sims)
            if not isinstance(player, Agent):
                return player
            self._networks[key] = player
        self._networks.move_to_end(key)
        while len(self._networks) > KEPT:
            self._networks.popitem(last=False)
        return self._networks[key]

    def _twin(self, agent: Agent, game: Game) -> Agent:
        rng = np.random.default_rng(self.seed)
        twin = agent.twin(game, agent.mcts_sims, rng=rng, seconds=agent.seconds, model=agent.model)
        twin.name = agent.name
        return twin
