"""OpenSpiel's UCT with random rollouts, as an opponent: `pip install open_spiel`. For games that OpenSpiel has, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from agent import Player
from config import UserError
from game import Game, GameState
from games.line_of_moves import refuse_set_up
from MCTS import Decision

MEMORY = 1000
"""Memory limit of a search, in MiB."""


def spiel_name(game: Game) -> str | None:
    """Return OpenSpiel's name of a game with the same rules, None when there is none."""
    return None if game.origin else game.openspiel_name  # your own game has other rules, whatever it derives from


class UCTPlayer(Player):
    """Plays by `pyspiel.MCTSBot` with one random rollout per simulation; no tree is kept between moves."""

    judges = False

    def __init__(self, game: Game, sims: int) -> None:
        try:
            import pyspiel
        except ImportError:
            raise UserError("the player uct needs OpenSpiel: `pip install open_spiel`") from None
        refuse_set_up(game, "the player uct")
        theirs = spiel_name(game)
        if theirs is None:
            known = (
                "connect4, tictactoe, othello, hex, gomoku(rule=freestyle), go(ko=simple,suicide=no), open_spiel:..."
            )
            raise UserError(f"expected one of {known} for the player uct, got {game.spec}")
        super().__init__(f"uct:{sims}", game)
        self._pyspiel: Any = pyspiel
        self._game = pyspiel.load_game(theirs)
        self._sims = sims
        self._theirs = game.openspiel_actions()
        self._ours = np.argsort(self._theirs)
        self._tables: dict[int, tuple[Any, Any]] = {}

    def new_game(self, slot: int, seed: int) -> None:
        evaluator = self._pyspiel.RandomRolloutEvaluator(1, seed % 2**31)
        bot = self._pyspiel.MCTSBot(self._game, evaluator, 1.4, self._sims, MEMORY, False, seed % 2**31, False)
        self._tables[slot] = bot, self._game.new_initial_state()

    def observe(self, slot: int, action: int) -> None:
        position = self._tables[slot][1]
        if not position.is_terminal():
            position.apply_action(int(self._theirs[action]))

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        decisions = []
        for slot, state in zip(slots, states, strict=True):
            bot, position = self._tables[slot]
            if position.is_terminal():  # a repetition in Go, a draw for OpenSpiel only: play any move
                action = int(state.allowedActions[-1])
            else:
                action = int(self._ours[bot.step(position)])
            pi = np.zeros(self.game.action_size)
            pi[action] = 1.0
            decisions.append(Decision(action, pi, 0.0))
        return decisions

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Choose in the game of slot 0, whose moves came by `observe`."""
        decision = self.act_many([0], [state], [tau])[0]
        return decision.action, decision.visits, 0.0, 0.0
