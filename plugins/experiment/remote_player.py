"""A player in a process of its own (seat.py): so each variant plays with the code that trained it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from agent import Player
from config import UserError
from game import Game, GameState
from MCTS import Decision

SEAT = Path(__file__).with_name("seat.py")


class RemotePlayer(Player):
    """A variant's newest network, with the search of its own checkout."""

    judges = False

    def __init__(self, name: str, game: Game, words: list[str], environment: dict[str, str], log: IO[bytes]) -> None:
        """Start the process with the words that follow `seat.py`."""
        super().__init__(name, game)
        self._log = log
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(SEAT), *words],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        self._answer()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> list[Decision]:
        self._send("act", list(slots), list(taus))
        moves = self._answer()
        for action, state in zip(moves, states, strict=True):
            if action not in state.allowedActions:
                raise UserError(f"{self.name}: expected a legal move of {self.game.spec}, got {action}")
        return [Decision(action, np.zeros(self.game.action_size, np.int64), 0.0) for action in moves]

    def new_games(self, slots: int) -> None:
        self._send("new_games", slots)

    def new_game(self, slot: int, seed: int) -> None:
        self._send("new_game", slot, seed)

    def observe(self, slot: int, action: int) -> None:
        self._send("observe", slot, int(action))

    def _send(self, *message: Any) -> None:
        pipe = self._process.stdin
        try:
            assert pipe is not None  # noqa: S101
            pipe.write(json.dumps(message).encode() + b"\n")
            if message[0] == "act":
                pipe.flush()
        except OSError:
            raise self._ended() from None

    def _answer(self) -> Any:
        pipe = self._process.stdout
        assert pipe is not None  # noqa: S101
        line = pipe.readline(1 << 20)
        if not line:
            raise self._ended()
        return json.loads(line)

    def _ended(self) -> UserError:
        return UserError(f"{self.name}: its player has ended; {self._log.name} says why")
