"""Thinking for another program: for a time or a number of visits, until a next command, with the tree kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence, Set
from typing import NamedTuple

import numpy as np

from agent import Agent, Player, Resigned
from config import UserError
from game import GameState
from MCTS import MCTS
from players.book import BookPlayer
from players.rollout import RolloutPlayer, search
from plugins.engines.root_moves import search_only
from plugins.engines.snapshot import Snapshot, snapshot
from search.tables import ENDLESS

ROOM = 2**29
"""Memory limit of a tree in bytes, unless another program sets one."""
FADE = 0.95
"""What is left of the longest step of a search at the next one."""
LOOK = 0.005
"""Seconds between two looks for a command when there is nothing to search."""
Stop = Callable[[], bool]


class Choice(NamedTuple):
    """A chosen move."""

    action: int | None
    """None: the player resigns."""
    value: float | None
    """For the player to move; None from a player that judges nothing."""


class Thinker:
    """A player of one game with its tree, which can be stopped at any moment."""

    def __init__(self, player: Player, *, room: int = ROOM, seed: int = 0) -> None:
        """Take a player for its own. room: memory limit of its tree, in bytes; seed: of all that it draws."""
        self.player = player.player if isinstance(player, BookPlayer) else player
        """The player without its opening book, where it has one."""
        self._book = player.book if isinstance(player, BookPlayer) else None
        self.rng = np.random.default_rng(seed)
        if isinstance(self.player, Agent):
            self.player.tree_bytes = room
        self._begun = False
        self._step = 0.0
        """Seconds that the search lately took from one look at the clock to the next; long on a busy machine."""

    @property
    def tree(self) -> MCTS | None:
        """Return the tree of a player that searches one; None for other players, and before the first search."""
        if isinstance(self.player, Agent):
            return self.player.MCTS
        return self.player.trees(0)[0] if isinstance(self.player, RolloutPlayer) else None

    @property
    def shows(self) -> bool:
        """Return whether the player has a search that can be shown."""
        return isinstance(self.player, Agent | RolloutPlayer)

    @property
    def ponders(self) -> bool:
        """Return whether the player can think on the other's time; a level would get stronger by it."""
        return isinstance(self.player, Agent) and not self._is_level

    @property
    def _is_level(self) -> bool:
        return self.player.name.startswith("level ")

    def reply(self, state: GameState) -> int | None:
        """Return the move of the player's opening book, None where it has none."""
        return self._book.reply(state) if self._book is not None else None

    def budget(self, seconds: float) -> tuple[int, float]:
        """Return the simulations and the seconds of a move for which the clock leaves `seconds`; infinite: no clock.

        A level, and a player without a network, keeps its number of simulations.
        """
        player = self._searcher()
        if isinstance(player, RolloutPlayer):
            sims, own = player.budget()
            return sims, min(seconds, own)
        seconds = min(seconds, player.seconds)
        return player.mcts_sims if self._is_level or math.isinf(seconds) else ENDLESS, seconds

    def _searcher(self) -> Agent | RolloutPlayer:
        """Return the player; raise `UserError` if its search cannot be shown."""
        if not isinstance(self.player, Agent | RolloutPlayer):
            raise UserError(f"expected a player whose search can be shown, got {self.player.name}")
        return self.player

    def choose(self, state: GameState, moves: Sequence[int], seconds: float, stop: Stop = lambda: False) -> Choice:
        """Choose a move within `seconds`; infinite: with the player's own budget.

        moves: those that led from the game's start to the state, for players that follow a game.
        """
        if (known := self.reply(state)) is not None:
            return Choice(known, None)
        last = time.monotonic()
        end = last + seconds

        def late() -> bool:
            nonlocal last
            now = time.monotonic()
            self._step, last = max(now - last, FADE * self._step), now
            return now + min(self._step, seconds / 2) > end or stop()

        if isinstance(self.player, Agent):
            return self._searched(self.player, state, self.budget(seconds)[0], late)
        return self._asked(state, moves, end, late)

    def _searched(self, agent: Agent, state: GameState, sims: int, late: Stop) -> Choice:
        agent.think(state, sims, late)
        pi, values = agent.getAV(1)
        action, _ = agent.chooseAction(pi, values, 0)
        return Choice(action, agent.MCTS.root_value() if agent.MCTS is not None else None)

    def _asked(self, state: GameState, moves: Sequence[int], end: float, late: Stop) -> Choice:
        """Return the move of a player without a network."""
        player = self.player
        player.deadline = end
        if hasattr(player, "stopped"):
            player.stopped = late
        if not isinstance(player, RolloutPlayer) or not self._begun:
            self._begin(moves)
        try:
            action, _, value, _ = player.act(state, 0)
        except Resigned:
            return Choice(None, None)
        return Choice(action, float(value) if player.judges else None)

    def _begin(self, moves: Sequence[int]) -> None:
        """Let a player without a network begin a game with these moves."""
        self.player.new_games(1)
        self.player.new_game(0, int(self.rng.integers(2**31)))
        self._begun = True
        for action in moves:
            self.player.observe(0, action)

    def analyse(
        self, state: GameState, show: Callable[[Snapshot], None], *, every: float, stop: Stop,
        moves: int = 10_000, seconds: float = math.inf, visits: int | None = None, ends: bool = False,
        allowed: Set[int] | None = None,
    ) -> None:  # fmt: skip
        """Search until `stop`, for some seconds, or some visits; `show` what is found every `every` seconds.

        A search that has nothing more to find, as in a proven position or a full tree, is shown further unless it
        `ends`. Raise `UserError` for a player whose search cannot be shown. allowed: the only moves to begin with; None
        for all.
        """
        player, end, shown_at = self._searcher(), time.monotonic() + seconds, time.monotonic()
        if isinstance(player, RolloutPlayer) and not self._begun:
            self._begin(())  # else the choice of a move would begin with a new tree

        def looking() -> bool:
            nonlocal shown_at
            now, tree = time.monotonic(), self.tree
            if stop() or now > end:
                return True
            if now - shown_at >= every and tree is not None and (found := snapshot(tree, moves)).moves:
                shown_at += every * max(math.floor((now - shown_at) / every), 1)
                show(found)
                if (ended := time.monotonic()) - now > every:  # else no time would be left for the search
                    shown_at = ended
            return False

        if allowed is not None:
            self._search_only(player, state, allowed, visits or ENDLESS, looking)
        else:
            player.think(state, visits or (ENDLESS if isinstance(player, Agent) else player.budget()[0]), looking)
        while not ends and not looking():
            time.sleep(LOOK)
        if not ends and (allowed is not None or self._is_level):
            self.forget()  # the next search has all moves, and a level no visits but its own

    def _search_only(
        self, player: Agent | RolloutPlayer, state: GameState, allowed: Set[int], visits: int, stop: Stop
    ) -> None:
        """Search a new tree whose root has some of its moves only."""
        if isinstance(player, Agent):
            player.buildMCTS(state, visits)
        else:
            player.trees(0)[0].plant(state)
        tree = self.tree
        if tree is None:
            raise RuntimeError("expected a tree")
        search_only(tree, 0, allowed)
        if isinstance(player, Agent):
            tree.search(player.predictor, visits, stop=stop)
        else:
            search(tree, visits, stop)

    def ponder(self, state: GameState, stop: Stop) -> None:
        """Search a position while the other player thinks, until `stop`, if the player does that."""
        if isinstance(self.player, Agent) and self.ponders and not state.isEndGame:
            self.player.think(state, ENDLESS, stop)

    def snapshot(self) -> Snapshot | None:
        """Return the result of the last search, None if there was none or it cannot be shown."""
        found = snapshot(self.tree) if self.tree is not None else None
        return found if found is not None and found.moves else None

    def limit(self, room: int) -> None:
        """Set the memory limit of the tree, in bytes."""
        if isinstance(self.player, Agent):
            self.player.tree_bytes, self.player.MCTS = room, None
            self.warm()

    def warm(self) -> None:
        """Load and compile what a first move and the next search need, so that they take no time of the game.

        The tree gets its room for all searches now: in a smaller one a longer search would begin again.
        """
        state, player = self.player.game.start(), self.player
        if isinstance(player, Agent):
            for _ in range(2):  # the second time in the tree of the first
                if state.isEndGame:
                    break
                player.think(state, ENDLESS, lambda: player.MCTS is not None and player.MCTS.root.visits >= 8)
                state = state.takeAction(player.chooseAction(*player.getAV(1), 0)[0])[0]
        elif isinstance(player, RolloutPlayer) and not state.isEndGame:
            player.think(state, 1)
        if (tree := self.tree) is not None:
            snapshot(tree)
        self.forget()

    def forget(self) -> None:
        """Drop the tree, before another game."""
        self._begun = False
        if self.tree is not None:
            self.tree.clear()


def policy(player: Player, state: GameState) -> np.ndarray | None:
    """Return a network's move probabilities [action_size], -1 where a move is illegal; None without a network."""
    if not isinstance(player, Agent):
        return None
    _, probabilities, legal = player.get_preds(state)
    found = np.full(len(probabilities), -1.0)
    found[legal] = probabilities[legal]
    return found
