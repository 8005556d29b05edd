"""Base classes of simple players, and the player that moves at random."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agent import RESIGN, Player, Resigned, is_legal
from config import UserError
from game import Game, GameState
from games import own
from MCTS import Decision


class BatchPlayer(Player):
    """A player that moves in many games at once. Override `act_many`."""

    def act(self, state: GameState, tau: float) -> tuple[int, np.ndarray, float, float]:
        """Choose in the game of slot 0; raise `Resigned` when that is the choice."""
        decision = self.act_many([0], [state], [tau])[0]
        if decision.action == RESIGN:
            raise Resigned
        return decision.action, decision.visits, decision.value, decision.value


class SimplePlayer(BatchPlayer):
    """A player that moves in one game after the other. Override `choose`."""

    def __init__(self, name: str, game: Game) -> None:
        super().__init__(name, game)
        self._rngs = {0: np.random.default_rng(0)}

    def new_game(self, slot: int, seed: int) -> None:
        self._rngs[slot] = np.random.default_rng(seed)

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        """Return a move and the player's value of the position, for the player to move; randomness comes from `rng`.

        A player that gives the game up raises `Resigned`.
        """
        # each player writes its own; `_decided` shows this as one line
        raise NotImplementedError("write choose(state, rng), see docs/add_a_player.md")

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        return [self._decided(state, self._rngs[slot]) for slot, state in zip(slots, states, strict=True)]

    def _decided(self, state: GameState, rng: np.random.Generator) -> Decision:
        """Return what `choose` chooses; raise `UserError` with one line unless that is a legal move and a value."""
        pi = np.zeros(self.game.action_size)
        try:
            found: Any = self.choose(state, rng)
        except Resigned:
            return Decision(RESIGN, pi, -1.0)
        except (UserError, OSError, MemoryError):  # which say themselves what is wrong
            raise
        except Exception as error:
            if own.line_of(error) or _of_compiler(error):
                raise
            text = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            raise UserError(f"{self._place(error)}: {text} (in `choose` of the player {self.name})") from error
        if not _is_decision(found, state):
            wanted = "a legal action, and a value of the position from -1 to 1 for the player to move"
            got = " ".join(repr(found).split())[:60]
            raise UserError(f"{self.name}: expected `choose` to return {wanted}, got {got}")
        action, value = found
        pi[action] = 1.0
        return Decision(action, pi, value)

    def _place(self, error: Exception) -> str:
        """Return the file of the player's `choose`, with the last line of it that led to an error."""
        file = type(self).choose.__code__.co_filename
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        return f"{Path(file).name}, line {lines[-1]}" if lines else Path(file).name


def _of_compiler(error: Exception) -> bool:
    """Return whether numba raised an error. Interrupted by Ctrl-C, it raises errors of many kinds."""
    return any("numba" in Path(frame.filename).parts for frame in traceback.extract_tb(error.__traceback__))


def _is_decision(found: Any, state: GameState) -> bool:
    """Return whether it is a legal action and a value from -1 to 1."""
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        return False
    action, value = found
    return is_legal(action, state) and isinstance(value, (int, float, np.number)) and bool(-1 <= value <= 1)


class RandomPlayer(SimplePlayer):
    """Plays a uniformly random legal move."""

    judges = False

    def __init__(self, game: Game) -> None:
        super().__init__("random", game)

    def choose(self, state: GameState, rng: np.random.Generator) -> tuple[int, float]:
        return int(rng.choice(state.allowedActions)), 0.0
