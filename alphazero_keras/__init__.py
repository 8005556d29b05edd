"""The door for other programs: load a player, ask it for moves and values, train a game, play a match.

    from alphazero_keras import load_player

    player = load_player("shipped", game="connect4")
    thought = player.think("4453")
    print(thought.move, thought.value, thought.main_line)

What is not named here may change with any release. docs/python.md has an example of each function. A position is given
by the moves that lead to it from the start of the game: as people type them ("4453", "d3 c5"), or as a list of actions.
Mistakes of a caller raise `UserError`.
"""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from config import VERSION, UserError

if TYPE_CHECKING:
    import numpy as np

    import agent
    from game import Game, GameState

__all__ = [
    "Evaluations",
    "MatchResult",
    "Player",
    "Thought",
    "Trained",
    "UserError",
    "__version__",
    "load_player",
    "play_match",
    "train",
]

__version__ = VERSION
_MOST_SEED = 2**31 - 1
Position = str | Sequence[int]
"""The moves from the start of a game, as a line of text or as actions."""


class Thought(NamedTuple):
    """What a player thinks of a position."""

    action: int
    """The move that it plays: an index into `policy`."""
    move: str
    """The same as people write it."""
    value: float
    """Of the position for the player to move, from -1 (lost) over 0 (drawn) to 1 (won)."""
    policy: np.ndarray
    """[action_size] float: the share of the search's visits that each move had, summing to 1; of a player that does not
    search, its odds."""
    main_line: list[str]
    """The moves that the search expects, the chosen one first; only that one where a player has no more."""


class Evaluations(NamedTuple):
    """What a network says of positions, without a search."""

    values: np.ndarray
    """[B] float, each for the player to move there, from -1 to 1."""
    policies: np.ndarray
    """[B, action_size] float: probabilities of the moves, 0 for illegal ones; all 0 where the game is over."""


class Trained(NamedTuple):
    """A run that `train` made."""

    player: str
    """The name of its best network, for `load_player` and `play_match`."""
    folder: Path
    metrics: list[dict[str, Any]]
    """A line for each iteration: docs/metrics.md says what is in it."""


class MatchResult(NamedTuple):
    """The result of a match, for the first player."""

    wins: int
    draws: int
    losses: int
    score: float
    """Mean points of a game (a win 1, a draw 1/2), from 0 to 1."""
    interval: tuple[float, float]
    """The score's 95 % interval."""
    elo: float
    """The same as an Elo difference; infinite when all games have one result."""
    elo_interval: tuple[float, float]
    forfeits: tuple[int, int] = (0, 0)
    """Games that each player lost by rule, not by play, such as a program that failed; they are among the others."""


class Player:
    """A player of one game; `load_player` makes it. It keeps nothing from one call to the next, so answers repeat.

    Several threads may share it: it answers one after the other. A player for each of them is faster.
    """

    def __init__(self, player: agent.Player, seed: int) -> None:
        self._player, self._seed = player, seed
        self._busy = threading.Lock()

    @property
    def name(self) -> str:
        """Its name with the version, e.g. "shipped:version0042"."""
        return self._player.name

    @property
    def game(self) -> str:
        """The name of its game with all parameters, e.g. "connect4(rows=5)"."""
        return self._player.game.spec

    def think(self, position: Position = "") -> Thought:
        """Choose a move; raise `UserError` where the game is over, or a move of the position is illegal."""
        actions, state = self._at(position)
        if state.isEndGame:
            raise UserError(f"expected a position to play in, the game is over\n{state.render()}")
        with self._busy:
            return self._think(actions, state)

    def _think(self, actions: list[int], state: GameState) -> Thought:
        import numpy as np

        from agent import RESIGN, Agent
        from interface.explain import describe, opinion

        game, player = self._player.game, self._player
        player.new_games(1)
        player.new_game(0, int(np.random.default_rng([self._seed, *actions]).integers(2**31)))
        for action in actions:
            player.observe(0, action)
        if not isinstance(player, Agent):
            chosen = player.act_many([0], [state], [0.0])[0]
            if chosen.action == RESIGN:
                raise UserError(f"expected a move of {player.name}, it {player.forfeit(0) or 'resigns'}")
            policy = chosen.visits / max(chosen.visits.sum(), 1e-9)
            name = game.move_name(chosen.action)
            return Thought(chosen.action, name, float(chosen.value), policy, [name])
        if player.MCTS is not None:
            player.MCTS.clear_cache()
        action, policy, _, _ = player.act(state, 0.0)
        assert player.MCTS is not None  # noqa: S101
        root = player.MCTS.root
        found = describe(root, player.name, opinion(player, root))
        line = next(move["pv"] for move in found["moves"] if move["action"] == action)
        value = found["search_value"] if root.proven is None else root.proven
        return Thought(action, game.move_name(action), float(value), policy, line)

    def outcome(self, position: Position) -> float | None:
        """Return the result of a game that is over, for the player to move, from -1 to 1; None while it is not over."""
        state = self._at(position)[1]
        return float(state.value) if state.isEndGame else None

    def evaluate(self, positions: Sequence[Position]) -> Evaluations:
        """Return what the player's network says of positions, all in one batch and without a search.

        Raises `UserError` for a player without a network.
        """
        import numpy as np

        from agent import Agent
        from search.expand import legal_softmax

        network = self._player if isinstance(self._player, Agent) else getattr(self._player, "agent", None)
        if network is None:
            raise UserError(f"expected a player with a network, got {self.name}")
        if isinstance(positions, str) or not hasattr(positions, "__iter__"):
            raise UserError(f"positions: expected a list of positions, got {_shown(positions)}")
        states = [self._at(position)[1] for position in positions]
        values, policies = np.zeros(len(states)), np.zeros((len(states), network.game.action_size))
        open_states = [i for i, state in enumerate(states) if not state.isEndGame]
        for i, state in enumerate(states):
            values[i] = state.value  # exact where the game is over
        if open_states:
            with self._busy:
                values[open_states], logits = network.predict(np.stack([states[i].planes() for i in open_states]))
            for i, row in zip(open_states, logits, strict=True):
                legal = list(states[i].allowedActions)
                policies[i, legal] = legal_softmax(row[legal])
        return Evaluations(values, policies)

    def _at(self, position: Position) -> tuple[list[int], GameState]:
        from games.line_of_moves import after_moves

        game = self._player.game
        actions = game.parse_moves(position) if isinstance(position, str) else _actions(position)
        return actions, after_moves(game, actions)


def load_player(
    name: str = "best", *, game: str = "connect4", sims: int = 400, seed: int = 0, runs: str | os.PathLike[str] = ""
) -> Player:
    """Return a player by its name: "shipped", "best", "run0002:version0010", "level:3", "rollout:1000", "solver", ...

    game: as after --game: "othello(size=6)", or "my_game.py:MyGame". sims: simulations a move of a network. seed: of
    ties and drawn moves. runs: the folder of your runs, by default ALPHAZERO_RUNS or `run` in the working folder.
    docs/play.md lists the names of players.
    """
    return Player(_player(name, _game(game), sims, runs), _whole(seed, "seed", 0, _MOST_SEED))


def train(
    game: str,
    *,
    preset: str = "",
    runs: str | os.PathLike[str] = "",
    quiet: bool = False,
    on_iteration: Callable[[dict[str, Any]], None] | None = None,
    **settings: Any,
) -> Trained:
    """Learn a game in a new run, until its last iteration or minute.

    settings: as the options of `train`, e.g. minutes=10 or mcts_sims=48. preset: tiny, laptop, classic or gpu; by
    default the one that suits the game. on_iteration: called with the metrics of each iteration. quiet: print nothing.
    """
    import games
    from evaluation.game_contract import checked
    from initialise import Session
    from loggers import Console
    from main import train as learn
    from training import presets

    spec = checked(games.make(_text(game, "game"))).spec
    config = presets.preset(_text(preset, "preset") or presets.preset_for(spec), **{**settings, "game": spec})
    if on_iteration is not None and not callable(on_iteration):
        raise UserError(f"on_iteration: expected a function, got {_shown(on_iteration)}")
    with Session.start(config, root=_root(runs), console=Console(quiet=quiet)) as session:
        lines = learn(session, on_iteration=on_iteration)
        which = "best" if session.best_version else "current"
        return Trained(f"{session.folder.name}:{which}", session.folder, lines)


def play_match(
    player1: str,
    player2: str,
    *,
    game: str = "connect4",
    games: int = 100,
    sims: int = 400,
    opening_plies: int = 2,
    seed: int = 0,
    runs: str | os.PathLike[str] = "",
) -> MatchResult:
    """Let two players play both colours of random openings; the same call plays the same games.

    Players, sims and runs as in `load_player`. games: an even number; fewer are played where there are no more
    openings that differ. opening_plies: random moves that open each pair of games.
    """
    from evaluation.match import contest, forfeits_of
    from evaluation.rating import rate, score_of
    from network.predictor import STEADY

    _whole(opening_plies, "opening_plies", 0, 100)
    _whole(seed, "seed", 0, _MOST_SEED)
    if _whole(games, "games", 2, 100_000) % 2:
        raise UserError(f"games: expected an even number, both colours of each opening, got {games}")
    rules = _game(game)
    first, second = (_player(name, rules, sims, runs, smallest=STEADY) for name in (player1, player2))
    played: list[Any] = []
    found = rate(
        contest(rules, (first, second), games, seed=seed, opening_plies=opening_plies, keep=played.extend)
    )
    low, high = score_of(found.low), score_of(found.high)
    return MatchResult(
        found.wins, found.draws, found.losses, found.mean, (low, high), found.elo, (found.low, found.high),
        forfeits_of(played),
    )


def _game(spec: str) -> Game:
    """Return the rules, after about a second of checks where they are from your own file."""
    import games
    from evaluation.game_contract import checked
    from games.sizes import largest_of

    return checked(largest_of(games.make(_text(spec, "game"))))


def _whole(value: Any, name: str, low: int, high: int) -> int:
    """Return a whole number after checking its range."""
    with suppress(TypeError):  # it is no whole number
        if not isinstance(value, bool) and low <= (found := operator.index(value)) <= high:
            return found
    raise UserError(f"{name}: expected a whole number from {low:,} to {high:,}, got {_shown(value)}")


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise UserError(f"{name}: expected a name as text, got {_shown(value)}")
    return value


def _actions(position: Any) -> list[int]:
    """Return a position's actions; names of moves are no actions, even where they are digits."""
    with suppress(TypeError):  # neither a list, nor whole numbers in it
        found = list(position)
        no_list = isinstance(position, (bytes, bytearray, Mapping, Set))
        if not no_list and not any(isinstance(action, bool) for action in found):
            return [operator.index(action) for action in found]
    raise UserError(
        f"position: expected a line of moves as text, or a list of actions, whole numbers, got {_shown(position)}"
    )


def _shown(value: Any) -> str:
    """Return a value as it is written, cut where it is long."""
    return repr(value)[:60]


def _root(runs: str | os.PathLike[str]) -> Path | None:
    if not isinstance(runs, (str, os.PathLike)) or "\0" in os.fspath(runs):
        raise UserError(f"runs: expected a folder, got {_shown(runs)}")
    return Path(runs) if runs else None


def _player(name: str, game: Game, sims: int, runs: str | os.PathLike[str], **options: Any) -> agent.Player:
    from players.by_name import make_player

    sims = _whole(sims, "sims", 1, 1_000_000)
    found = make_player(_text(name, "player"), game, sims=sims, root=_root(runs), **options)
    if found.is_person:
        raise UserError("expected a player that chooses its moves by itself, got a person")
    return found
