"""`Agent` plays by searching with a network, `User` by input from a person; `Player` is their base class.

Values are for the player to move unless a docstring says otherwise.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TextIO

import numpy as np

from config import PLAIN_SEARCH, SearchSettings, UserError
from console.turn import board_text, help_text, moves_text, question, understood
from game import Game, GameState
from languages.translate import tr
from MCTS import MCTS as SearchTree
from MCTS import Decision, Edge, Evaluator, Node, TreeFull
from memory import Batch
from search.evaluation_cache import CACHE_BYTES, places_in
from search.expand import legal_softmax
from search.many_games import GamesInTurn, ManyGames, games_at_once
from search.many_trees import room_for_trees
from search.trace import SearchObserver
from system.terminal import has_colours, typed_line

RESIGN = -1
"""Action of a `Decision` that resigns the game."""


class Resigned(Exception):
    """A player resigns the game."""


class Quit(Exception):
    """A person quits; the game is abandoned."""


class TakeBack(Exception):
    """A person takes the last two moves back."""


def is_legal(action: Any, state: GameState) -> bool:
    """Return whether an action, which may be anything where a user's own player chose it, is a legal move."""
    return isinstance(action, (int, np.integer)) and not isinstance(action, bool) and action in state.allowedActions


class Player:
    """Base class of all that chooses moves. Override `act`; also `act_many` if many games at once are cheaper."""

    at_once = 64
    """Largest number of games of a match that it plays side by side; 1 if its moves have a time limit."""
    is_person = False
    """Whether a person enters its moves at the console."""
    judges = True
    """Whether the values of its moves are its own; False: it has none, and 0.0 stands in their place."""
    deadline = float("inf")
    """`time.monotonic()` at which a search stops early and plays the best move so far; not every player supports it."""
    searched: tuple[np.ndarray, float] | None = None
    """(visits [action_size], value for the player to move) of the search in the last `act`, if there was one."""

    def __init__(self, name: str, game: Game) -> None:
        self.name = name
        self.game = game

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Return (action, pi [action_size], value of the chosen move, value of the position after it).

        Both values are in [-1, 1] for the player to move in `state`, an agent's its Q and the network's. tau: the
        temperature of the choice.
        """
        raise NotImplementedError

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        """Choose a move in several games at once; a slot identifies the game, so that its search tree can be kept."""
        return [self._decision(state, tau) for state, tau in zip(states, taus, strict=True)]

    def _decision(self, state: GameState, tau: float) -> Decision:
        try:
            action, pi, value, _ = self.act(state, tau)
            return Decision(action, *(self.searched or (pi, value)))
        except Resigned:
            return Decision(RESIGN, np.zeros(self.game.action_size, np.int64), -1.0)

    def new_games(self, slots: int) -> None:
        """Make room for games in slots 0 .. slots - 1."""

    def new_game(self, slot: int, seed: int) -> None:
        """Forget the slot's last game; all randomness in the new one comes from `seed`."""

    def observe(self, slot: int, action: int) -> None:
        """Receive a move in the game of a slot: of the opening, of the other player, or its own."""

    def forfeit(self, slot: int) -> str:
        """Return why it lost the game of a slot by rule, not by its play, where it resigned; "" if it just resigned."""
        return ""


class Agent(Player):
    """A player that searches one tree with a network's priors and values."""

    def __init__(
        self,
        name: str,
        game: Game,
        predictor: Evaluator,
        search: SearchSettings = PLAIN_SEARCH,
        *,
        mcts_sims: int = 400,
        noisy: bool = False,
        leaves: int = 8,
        cache_size: int = 1 << 16,
        model: Any = None,
        observer: SearchObserver | None = None,
        rng: np.random.Generator | None = None,
        seconds: float = float("inf"),
        tree_bytes: int | None = None,
    ) -> None:
        """Make a player. `leaves`: how many leaves of a tree wait at once; `model`: needed by `replay` only.
        `tree_bytes`: memory limit of its tree, by default `many_trees.room_for_trees`.

        An `observer` sees each simulation, which is then taken step by step: slow, with the moves of `leaves` = 1.
        A limit of `seconds` per move may end a search early; games are then played one after the other.
        """
        super().__init__(name, game)
        self.predictor = predictor
        self.search = search
        self.mcts_sims = mcts_sims
        self.noisy = noisy
        self.model = model
        self.observer = observer
        self.rng = rng or np.random.default_rng(0)
        self.seconds = seconds
        self.tree_bytes = tree_bytes
        self.MCTS: SearchTree | None = None
        """The tree of `act`, `think` and the article's steps."""
        self._leaves = leaves
        self._cache_size = places_in(CACHE_BYTES, cache_size, game.action_size)
        self.at_once = 1 if self._has_clock else games_at_once(game, mcts_sims, self.at_once)
        self._games: ManyGames | GamesInTurn
        if observer is None:
            self._games = ManyGames(game, search, cache_size=self._cache_size, noisy=noisy)
        else:
            self._games = GamesInTurn(partial(SearchTree, game, search, cache_size=0))

    # ---- a move: search, then choose

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Search and choose; see `Player.act`. `value` is the move's Q, `NN_value` the network's value of
        the position after it, both for the player who moves."""
        self.think(state)
        self.searched = self._tree.visit_counts(), float(self._tree.root_value())
        pi, values = self.getAV(1)
        action, value = self.chooseAction(_temper(pi, tau) if tau else pi, values, tau)
        after, result, done = state.takeAction(action)
        NN_value = result if done else self.get_preds(after)[0]
        if after.playerTurn != state.playerTurn:
            NN_value = -NN_value
        return action, pi, value, NN_value

    def think(self, state: GameState, sims: int | None = None, stop: Callable[[], bool] | None = None) -> Node:
        """Search a state until its root has `sims` visits, kept visits included; return the root.

        `stop` is called repeatedly; True ends the search early, as `seconds` and the `deadline` do.
        """
        if state.isEndGame:
            raise UserError(f"expected a position to play in, the game is over\n{state.render()}")
        sims = sims or self.mcts_sims
        late = self._time_limit(stop)
        if self.MCTS is None or not self.MCTS.fits(sims):
            self.buildMCTS(state, sims)
        else:
            self.changeRootMCTS(state, sims)
        tree = self._tree
        tree.solve_root()
        if self.noisy:
            tree.add_noise(self.search.alpha)
        if self.observer is None:
            tree.search(self.predictor, sims, stop=late)
        else:
            self._search_step_by_step(sims, late)
        return tree.root

    # ---- the article's steps

    def buildMCTS(self, state: GameState, sims: int | None = None) -> None:
        """Start a new tree at a state, with room for a search of `sims` visits."""
        if self.MCTS is None or not self.MCTS.fits(sims or self.mcts_sims):
            self.MCTS = SearchTree(
                self.game,
                self.search,
                leaves=self._leaves if self.observer is None else 1,
                sims=max(sims or 0, self.mcts_sims),
                cache_size=self._cache_size,
                seed=int(copy.deepcopy(self.rng).integers(2**31)),  # what it draws does not depend on trees it had
                most=self.tree_bytes or room_for_trees(),
            )
        self.MCTS.plant(state)

    def changeRootMCTS(self, state: GameState, sims: int | None = None) -> None:
        """Make a state of the tree its root; the rest of the tree is dropped. An unknown state starts a new tree."""
        self._tree.set_root(state, sims=sims or self.mcts_sims)

    def simulate(self) -> None:
        """Run one simulation, step by step: descend to a leaf, evaluate it, back its value up."""
        tree, observer = self._tree, self.observer or SearchObserver()
        observer.simulation_begins(tree)
        leaf, value, done, breadcrumbs = tree.moveToLeaf()
        observer.leaf_reached(leaf, breadcrumbs)
        value, breadcrumbs = self.evaluateLeaf(leaf, value, done, breadcrumbs)
        observer.leaf_evaluated(leaf, value, done)
        tree.backFill(leaf, value, breadcrumbs)
        observer.backed_up(leaf, value, breadcrumbs)

    def evaluateLeaf(self, leaf: Node, value: float, done: bool, breadcrumbs: list[Edge]) -> tuple[float, list[Edge]]:
        """Expand a leaf with the network's evaluation; return (value for its player to move, breadcrumbs)."""
        if done:
            return value, breadcrumbs
        values, logits = self.predict(leaf.state.planes()[None])
        self._tree.expand(leaf, float(values[0]), logits[0])
        return leaf.value, breadcrumbs

    def get_preds(self, state: GameState) -> tuple[float, np.ndarray, list[int]]:
        """Return the network's value, its move probabilities [action_size] (0 where illegal), the legal actions."""
        values, logits = self.predict(state.planes()[None])
        allowed = list(state.allowedActions)
        probs = np.zeros(self.game.action_size)
        if allowed:
            probs[allowed] = legal_softmax(logits[0, allowed])
        return float(values[0]), probs, allowed

    def predict(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the network's (value [B], logits [B, action_size]) for planes [B, rows, columns, planes]."""
        values, logits = self.predictor(planes)
        return np.array(values), np.array(logits)

    def getAV(self, tau: float) -> tuple[np.ndarray, np.ndarray]:
        """Return pi [action_size], ~ N^(1/tau), and the moves' Q [action_size] at the root."""
        pi = np.zeros(self.game.action_size)
        values = np.zeros(self.game.action_size)
        root = self._tree.root
        for action, edge in root.edges:
            stats = edge.stats
            pi[action] = stats["N"] if root.keeps_proof(edge) else 0.0
            values[action] = stats["Q"] if edge.proven is None else edge.proven
        if not pi.any():  # all visited moves are proven to lose: use the priors, of unproven moves if any
            left = [(action, edge) for action, edge in root.edges if edge.proven is None] or root.edges
            for action, edge in left:
                pi[action] = edge.stats["P"]
            pi[[action for action, _ in left]] += not pi.any()
        return _temper(pi, tau), values

    def chooseAction(self, pi: np.ndarray, values: np.ndarray, tau: float) -> tuple[int, float]:
        """Return (action, its Q): drawn from pi, or with tau = 0 a most probable one, ties at random."""
        action = int(self.rng.choice(np.flatnonzero(pi == pi.max())) if tau == 0 else self.rng.choice(len(pi), p=pi))
        return action, float(values[action])

    # ---- its network

    def replay(
        self,
        sample: Callable[[int], Batch],
        loops: int,
        *,
        rate: Callable[[int], float] | None = None,
        report: Callable[[int], None] | None = None,
    ) -> dict[str, float]:
        """Train the network on `loops` random batches of ltmemory; return the mean losses."""
        if self.model is None:
            raise RuntimeError(f"{self.name} has no model to train")
        losses: dict[str, float] = self.model.fit(sample, loops, rate=rate, report=report)
        return losses

    def twin(self, game: Game, mcts_sims: int, *, changes: dict[str, Any] | None = None, **options: Any) -> Agent:
        """Return a player with the same network, the same search settings except for `changes`, and its own tree."""
        search = replace(self.search, **(changes or {}))
        options = {"leaves": self._leaves, "cache_size": self._cache_size, "tree_bytes": self.tree_bytes, **options}
        return Agent(self.name, game, self.predictor, search, mcts_sims=mcts_sims, **options)

    # ---- many games at once, see search/many_games.py

    def new_games(self, slots: int) -> None:
        if not self._has_clock:
            self._games.new_games(slots, self.mcts_sims)

    def new_game(self, slot: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        if self.MCTS is not None:
            self.MCTS.clear()
            self.MCTS.clear_cache()  # what is known from earlier games would change the order of the search
        if not self._has_clock:
            self._games.new_game(slot, seed)

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        if self._has_clock:  # one game after the other
            return super().act_many(slots, states, taus)
        return self._games.choose(slots, states, taus, self)

    def think_in(self, tree: SearchTree, state: GameState) -> SearchTree:
        """Search a state in one of several trees; return the tree used, a new one if that had no room."""
        self.MCTS = tree
        return self.think(state).mcts

    # ---- inside

    @property
    def _tree(self) -> SearchTree:
        if self.MCTS is None:
            raise RuntimeError("expected `buildMCTS(state)` first")
        return self.MCTS

    def _search_step_by_step(self, sims: int, late: Callable[[], bool] | None) -> None:
        """Search as `SearchTree.search` does compiled, by `simulate`."""
        tree, dropped_at = self._tree, -1
        while tree.root.isLeaf() or (tree.root.proven is None and tree.root.visits < sims):
            if late is not None and late() and tree.root.visits:
                break
            try:
                self.simulate()
            except TreeFull:  # as in the compiled search
                if not tree.root.visits:
                    raise
                if tree.root.visits == dropped_at:  # there is no room for a single visit
                    break
                tree.drop_far()
                dropped_at = tree.root.visits

    @property
    def _has_clock(self) -> bool:
        """Return whether its moves have a time limit, so that games are searched one after the other."""
        return min(self.seconds, self.deadline) < float("inf")

    def _time_limit(self, stop: Callable[[], bool] | None) -> Callable[[], bool] | None:
        """Return what says that a search beginning now must end, by the clock or by `stop`; None without either."""
        if stop is None and not self._has_clock:
            return None
        end = min(time.monotonic() + self.seconds, self.deadline)
        return lambda: time.monotonic() > end or (stop is not None and stop())


class User(Player):
    """A person at the console, who types moves or commands (`console.turn.COMMANDS`); the end of input quits."""

    at_once = 1
    is_person = True

    def __init__(
        self, name: str, game: Game, *, hint: Callable[[GameState], str] | None = None,
        input: TextIO | None = None, output: TextIO | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name, game)
        self._hint, self._input, self.output = hint, input, output
        self.moves: list[int] = []
        """Of the game so far."""

    def new_game(self, slot: int, seed: int) -> None:
        self.moves = []

    def observe(self, slot: int, action: int) -> None:
        self.moves.append(action)

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Read lines until one is a legal move; raise `TakeBack`, `Resigned` or `Quit` when the person types that."""
        self.say(self.drawn(state))
        ways_out = {"undo": TakeBack, "resign": Resigned, "quit": Quit}
        while True:
            self.say(question(self.game, state))
            typed = understood(self.game, state, self._read())
            if typed.action is not None:
                pi = np.zeros(self.game.action_size)
                pi[typed.action] = 1.0
                return typed.action, pi, 0.0, 0.0
            if typed.command in ways_out:
                raise ways_out[typed.command]
            self.say(typed.fault or self._answer(typed.command, state))

    def _answer(self, command: str, state: GameState) -> str:
        if command == "hint":
            return self._hint(state) if self._hint else tr("No hints in this game.")
        if command == "moves":
            return moves_text(self.game, self.moves)
        return help_text(self.game, state) if command == "help" else self.drawn(state)

    def _read(self) -> str:
        if self._screen.isatty():
            print("> ", end="", file=self._screen, flush=True)
        line = typed_line(self._input or sys.stdin)
        if line is None:
            raise Quit
        return line

    @property
    def _screen(self) -> TextIO:
        return self.output or sys.stdout

    def drawn(self, state: GameState) -> str:
        """Return the board, in colours where the terminal has them."""
        return board_text(self.game, state.render(), colours=has_colours(self._screen))

    def say(self, text: str) -> None:
        print(text, file=self._screen, flush=True)


def _temper(pi: np.ndarray, tau: float) -> np.ndarray:
    """Return pi^(1/tau), normalised to sum 1; divided by the largest first so that no power overflows."""
    if tau <= 0:
        raise ValueError(f"expected `tau` > 0, got {tau}")
    if pi.max() <= 0:
        raise ValueError("expected at least one visit, got none")
    odds = (pi / pi.max()) ** (1.0 / tau)
    return odds / odds.sum()
