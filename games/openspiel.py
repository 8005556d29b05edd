"""Games of OpenSpiel, such as "open_spiel:hex(board_size=5)" (`pip install open_spiel`).

Accepted are games of two players with perfect information, without chance, one move after the other, in which one wins
what the other loses. Player 1 is the player who moves first, whatever OpenSpiel's number for that player.
"""

from __future__ import annotations

import functools
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from config import UserError
from game import GameState, illegal_move
from games.plain import PlainGame
from games.returned_values import check_facts

PREFIX = "open_spiel:"
SCRIPT = Path(__file__).with_name("openspiel_probe.py")
PROBE_SECONDS = 30
BOARD_TELLS = frozenset(
    "breakthrough clobber connect_four gomoku havannah mnk othello pentago tic_tac_toe y".split()
)
"""Games whose future depends on drawing, side to move and ply only. In others it may depend on how a position came
about (repetition, half a move), so there only equal histories are equal."""


_OPEN_FILES = {"efg_game", "nfg_game"}
_NUMBERS = r"-?[0-9]+(\.[0-9]*)?(e[+-]?[0-9]+)?(;[0-9]+)*|[Tt]rue|[Ff]alse"
_PART = re.compile(rf"\s*((?P<key>\w+)\s*=\s*)?({_NUMBERS}|(?P<word>[a-z]\w*))?\s*\Z", re.ASCII)


class SpielState(GameState):
    """One position of a game of OpenSpiel."""

    __slots__ = ("game", "_spiel", "id", "playerTurn", "allowedActions", "isEndGame", "value", "_history")

    def __init__(self, game: SpielGame, spiel: Any, mover: int, history: tuple[int, ...]) -> None:
        """Wrap an OpenSpiel state, which nobody else changes; `mover` made the last move."""
        self.game, self._spiel, self._history = game, spiel, history
        self.isEndGame = bool(spiel.is_terminal())
        self.playerTurn = -mover if self.isEndGame else game.turns[spiel.current_player()]
        self.allowedActions = [] if self.isEndGame else spiel.legal_actions()
        self.value = min(max(self._points() / game.spiel.max_utility(), -1.0), 1.0) if self.isEndGame else 0.0
        self.id = (len(history), self.playerTurn, str(spiel)) if game.board_tells else history

    def _player(self) -> int:
        """Return OpenSpiel's number of the player to move."""
        return int(self.game.turns[1] == self.playerTurn)

    def _points(self) -> float:
        return float(self._spiel.player_return(self._player()))

    @property
    def score(self) -> tuple[float, float]:
        """Return what the player to move and the other have won, in OpenSpiel's units."""
        points = self._points() if self.isEndGame else 0.0
        return (max(points, 0.0), max(-points, 0.0))

    def takeAction(self, action: int) -> tuple[GameState, float, bool]:
        if action not in self.allowedActions:
            raise UserError(illegal_move(self.game, self, action))
        if len(self._history) >= self.game.max_plies:
            raise UserError(f"{self.game.spec}: expected at most {self.game.max_plies} plies, got more")
        action = int(action)
        state = SpielState(self.game, self._spiel.child(action), self.playerTurn, (*self._history, action))
        return state, state.value, state.isEndGame

    def planes(self) -> np.ndarray:
        """Return the observation of the player to move, cut into 0 and 1; whether player 2 is to move; ones."""
        game = self.game
        seen = np.asarray(self._spiel.observation_tensor(self._player()), np.float32).reshape(game.channels, -1)
        rows, columns, count = game.input_shape
        out = np.ones((count, rows * columns), np.uint8)
        out[:-2] = seen[game.channel] > game.threshold
        out[-2] = self.playerTurn == -1
        return np.ascontiguousarray(out.T).reshape(game.input_shape)

    def render(self) -> str:
        return str(self._spiel).rstrip("\n") or "(nothing to see)"

    def __repr__(self) -> str:
        return f"<{self.game.spec} ply {len(self._history)}\n{self.render()}>"


class SpielGame(PlainGame):
    """A game of OpenSpiel.

    Observations: three dimensions are planes of a board, two are planes of a square board written in a row, all others
    become planes of a board of one point. A channel with the values 0 and 1 is one plane. For other numbers, plane k
    says whether they are above the k-th threshold; thresholds lie between the values met in random games.
    """

    policy_layout = "other"
    pieces = {1: "player 1", 0: "-", -1: "player 2"}
    symmetries = []

    def __init__(self, inside: str) -> None:
        """Load the game with OpenSpiel's name `inside`; raise `UserError` when it is not accepted."""
        facts = probe(inside)
        import pyspiel

        self.inside: str = facts["spec"]
        self.spiel = pyspiel.load_game(self.inside)
        self.name = self.spiel.get_type().short_name  # type: ignore[misc]
        self.board_tells = self.name in BOARD_TELLS
        first = self.spiel.new_initial_state().current_player()
        self.turns = {first: 1, 1 - first: -1}
        cuts = facts["thresholds"]
        self.channels = len(cuts)
        self.channel = np.repeat(np.arange(len(cuts)), [len(c) for c in cuts])
        self.threshold = np.concatenate(cuts).astype(np.float32)[:, None]
        points = math.prod(self.spiel.observation_tensor_shape()) // self.channels
        shape = self.spiel.observation_tensor_shape()
        self.grid_shape = (shape[1], shape[2]) if len(shape) == 3 else (math.isqrt(points),) * 2
        self.input_shape = (*self.grid_shape, len(self.channel) + 2)
        self.action_size = self.spiel.num_distinct_actions()
        self.max_plies: int = facts["length"]
        self._names = {int(a): name for a, name in facts["names"].items()}
        self._spelled = {str(a): a for a in range(self.action_size)}
        self._spelled |= {name.lower(): a for a, name in self._names.items()}
        check_facts(self)
        super().__init__()

    @property
    def spec(self) -> str:
        return PREFIX + self.inside

    @property
    def openspiel_name(self) -> str:
        return self.inside

    def start(self) -> GameState:
        return SpielState(self, self.spiel.new_initial_state(), -1, ())

    def move_name(self, action: int) -> str:
        """Return OpenSpiel's name if it is the same action's in every position, else the number."""
        return self._names.get(action, str(action))

    def parse_move(self, text: str) -> int:
        """Accept OpenSpiel's name and the number."""
        action = self._spelled.get(text.strip().lower()) if len(text) <= 40 else None
        if action is None:
            raise UserError(f"expected a move such as {self.move_name(0)!r}, got {text[:40]!r}")
        return action


def check_harmless(inside: str) -> None:
    """Raise `UserError` where a game named in a file has parameters other than numbers: words may be files to open."""
    for place, part in enumerate(re.split("[(),]", inside)):
        match = _PART.match(part)
        key, word = (match["key"], match["word"]) if match else (None, part)
        number = word is None and "file" not in (key or "")
        named = word not in _OPEN_FILES and match is not None and key == ("game" if place else None)
        if not (number or named):
            raise UserError(f"expected the game to be named with --game, as it may open files: {inside[:100]!r}")


@functools.lru_cache(maxsize=64)
def probe(inside: str) -> dict[str, Any]:
    """Return the facts from games/openspiel_probe.py about a game; raise `UserError` with its refusal."""
    try:
        # -P: a game's file next to the script must not replace a library's module
        done = subprocess.run([sys.executable, "-P", str(SCRIPT), inside], capture_output=True, timeout=PROBE_SECONDS)
        found = json.loads(done.stdout.decode().splitlines()[-1])
    except subprocess.TimeoutExpired:
        raise UserError(f"OpenSpiel did not come to an end of {inside[:60]} in {PROBE_SECONDS} seconds") from None
    except (ValueError, IndexError):
        raise UserError(f"OpenSpiel crashes on {inside[:60]}; are its parameters possible?") from None
    if "error" in found:
        raise UserError(found["error"])
    return found
