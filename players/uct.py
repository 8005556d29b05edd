"""OpenSpiel's UCT with random rollouts as an opponent: `pip install open_spiel`. For games that OpenSpiel has too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agent import Player
from config import UserError
from game import Game, GameState
from games.openspiel import SpielGame
from MCTS import Decision

OPENSPIEL_NAMES = {"connect4": "connect_four", "tictactoe": "tic_tac_toe"}


class UCTPlayer(Player):
    """`pyspiel.MCTSBot` with one random rollout a simulation; it keeps no tree between moves."""

    def __init__(self, game: Game, sims: int) -> None:
        try:
            import pyspiel
        except ImportError:
            raise UserError("the player uct needs OpenSpiel: `pip install open_spiel`") from None
        theirs = game.inside if isinstance(game, SpielGame) else OPENSPIEL_NAMES.get(game.spec)
        if theirs is None:
            known = ", ".join(OPENSPIEL_NAMES)
            raise UserError(f"expected one of {known}, open_spiel:... for the player uct, got {game.spec}")
        super().__init__(f"uct:{sims}", game)
        self._pyspiel: Any = pyspiel
        self._game = pyspiel.load_game(theirs)
        self._sims = sims
        self._tables: dict[int, tuple[Any, Any]] = {}

    def new_game(self, slot: int, seed: int) -> None:
        evaluator = self._pyspiel.RandomRolloutEvaluator(1, seed % 2**31)
        bot = self._pyspiel.MCTSBot(self._game, evaluator, 1.4, self._sims, 1000, False, seed % 2**31, False)
        self._tables[slot] = bot, self._game.new_initial_state()

    def observe(self, slot: int, action: int) -> None:
        self._tables[slot][1].apply_action(action)

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        decisions = []
        for slot in slots:
            bot, position = self._tables[slot]
            action = int(bot.step(position))
            pi = np.zeros(self.game.action_size)
            pi[action] = 1.0
            decisions.append(Decision(action, pi, 0.0))
        return decisions

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Choose in the game of slot 0, whose moves `observe` told."""
        decision = self.act_many([0], [state], [tau])[0]
        return decision.action, decision.visits, 0.0, 0.0
