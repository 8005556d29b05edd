"""Play games by protocol against players of this process, with a clock of our own: faults, moves that were late.

    python benchmarks/engine_games.py [--games 1000] [--limit 0.1] [--against rollout:50] [--seed 0]

A quarter of the games each: tic-tac-toe, Go 5x5 and gomoku over GTP, gomoku over the Gomocup protocol. Half of them
have `limit` seconds a move, half ten times that as main time and then three periods of `limit` seconds (in Gomocup,
where there are no periods, a limit for the game). The clock runs from before a command is written until its answer is
read.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from agent import Player
from game import Game
from games.line_of_moves import played
from players.by_name import make_player
from plugins.engines import vertices
from plugins.engines.clock import TimeControl
from plugins.engines.programs.child_program import EngineFailed
from plugins.engines.programs.gomocup import RULES, Brain
from plugins.engines.programs.gtp import Engine

MAIN = [sys.executable, str(Path(__file__).parent.parent / "main.py")]
PERIODS = 3
LONGEST = 600
OPENING = 2
"""Random moves at the beginning."""
CASES = (("gtp", "tictactoe"), ("gtp", "go"), ("gtp", "gomoku"), ("gomocup", "gomoku"))


class Judge:
    """Keeps a player's time as the other program would."""

    def __init__(self, control: TimeControl) -> None:
        self.main, self.control, self.periods, self.lost = control.main, control, control.periods, False
        self.worst = -math.inf
        """Most seconds that a move took beyond what was left to it."""

    def move(self, seconds: float) -> None:
        left = self.main + (self.control.period * max(self.periods, 1) if self.control.period else 0.0)
        self.worst = max(self.worst, seconds - left)
        over = max(seconds - self.main, 0.0)
        self.main = max(self.main - seconds, 0.0)
        if over and not self.control.period:
            self.lost = True
        elif over:
            self.periods -= int(over // self.control.period)
            self.lost = self.lost or self.periods < (1 if self.control.periods else 0)


class GtpSide:
    """Our engine over GTP."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.engine = Engine([*MAIN, "gtp", "--game", game.spec], 60.0, 300.0)

    def begin(self, control: TimeControl) -> None:
        self.engine.ask("clear_board")
        limit = f"{control.period:g}"
        if control.main:
            self.engine.ask(f"kgs-time_settings byoyomi {control.main:g} {limit} {control.periods}")
        else:
            self.engine.ask(f"time_settings 0 {limit} 1")
        self.state, self.sent = self.game.start(), 0

    def move(self, moves: list[int], judge: Judge, state: object) -> tuple[int, float]:
        while self.sent < len(moves):
            name = vertices.vertex(self.game, self.state, moves[self.sent])
            self.engine.ask(f"play {'b' if self.state.playerTurn == 1 else 'w'} {name}")
            self.state = played(self.game, self.state, moves[self.sent])
            self.sent += 1
        if judge.control.main:
            stones = max(judge.periods, 1) if judge.main <= 0 else 0
            left = judge.control.period if stones else judge.main
            self.engine.ask(f"time_left {self._colour()} {left:.3f} {stones}")
        began = time.monotonic()
        answer = self.engine.ask(f"genmove {self._colour()}")
        seconds = time.monotonic() - began
        action = vertices.action(self.game, self.state, answer)
        self.state, self.sent = played(self.game, self.state, action), self.sent + 1
        return action, seconds

    def _colour(self) -> str:
        return "b" if self.state.playerTurn == 1 else "w"


class GomocupSide:
    """Our engine over the Gomocup protocol."""

    def __init__(self, game: Game) -> None:
        self.game, self.brain = game, Brain([*MAIN, "gomocup"], 60.0, 300.0)
        self._ok(f"START {game.grid_shape[0]}")
        self.brain.inform([f"rule {RULES['freestyle']}", f"max_memory {2**31}"])

    def _ok(self, command: str) -> None:
        if self.brain.ask([command]) != "OK":
            raise EngineFailed(f"{command}: expected OK")

    def begin(self, control: TimeControl) -> None:
        self._ok("RESTART")
        turn = control.period or control.main
        whole = f"{round(1000 * control.main)}" if not control.period else "0"
        self.brain.inform([f"timeout_turn {round(1000 * turn)}", f"timeout_match {whole}"])
        self.sent = 0

    def move(self, moves: list[int], judge: Judge, state: object) -> tuple[int, float]:
        size, new = self.game.grid_shape[0], len(moves) - self.sent
        if not judge.control.period:
            self.brain.inform([f"time_left {round(1000 * judge.main)}"])
        spots = [f"{move % size},{move // size}" for move in moves]
        mine = len(moves) % 2
        if new == 1:
            lines = [f"TURN {spots[-1]}"]
        else:
            lines = ["BOARD", *(f"{spot},{1 if n % 2 == mine else 2}" for n, spot in enumerate(spots)), "DONE"]
        began = time.monotonic()
        answer = self.brain.ask(lines if moves else ["BEGIN"])
        seconds = time.monotonic() - began
        x, y = map(int, answer.split(","))
        self.sent = len(moves) + 1
        return y * size + x, seconds


def controls(protocol: str, limit: float) -> list[TimeControl]:
    """Return the two clocks of a protocol."""
    second = TimeControl(10 * limit, limit, 1, PERIODS) if protocol == "gtp" else TimeControl(40 * limit)
    return [TimeControl(0.0, limit, 1), second]


def play(side: GtpSide | GomocupSide, other: Player, control: TimeControl, first: int, seed: int) -> tuple[str, Judge]:
    """Return how a game ended for the engine, and its clock. first: 0 if the engine begins."""
    game, rng, judge = side.game, np.random.default_rng(seed), Judge(control)
    side.begin(control)
    other.new_games(1)
    other.new_game(0, seed)
    state = game.start()
    moves: list[int] = []
    while not state.isEndGame and len(moves) < LONGEST:
        seconds = None
        if len(moves) < OPENING:
            action = int(rng.choice(state.allowedActions))
        elif len(moves) % 2 == first:
            action, seconds = side.move(moves, judge, state)
            judge.move(seconds)
        else:
            action = int(other.act(state, 0)[0])
        state = state.takeAction(action)[0]  # raises where it is not legal
        moves.append(action)
        other.observe(0, action)
    value = state.value * state.playerTurn * (1 if first == 0 else -1)
    return ("won" if value > 0 else "lost" if value < 0 else "drawn"), judge


def run(
    protocol: str, spec: str, count: int, limit: float, against: str, seed: int, say: Callable[[str], None]
) -> None:
    """Play the games of one case and say what happened."""
    game = games.make(spec)
    side: GtpSide | GomocupSide = GtpSide(game) if protocol == "gtp" else GomocupSide(game)
    other, began = make_player(against, game), time.monotonic()
    for control in controls(protocol, limit):
        found, worst, late = Counter[str](), -math.inf, 0
        for number in range(count // 2):
            try:
                result, judge = play(side, other, control, number % 2, seed + number)
            except (EngineFailed, ValueError) as error:
                say(f"protocol error: {error}")
                found["protocol errors"] += 1
                side = GtpSide(game) if protocol == "gtp" else GomocupSide(game)
                continue
            found[result] += 1
            late += judge.lost
            worst = max(worst, judge.worst)
        shape = f"main, {control.periods} x {control.period:g} s" if control.main and control.period else "a move"
        shape = shape if control.period else "a game"
        seconds = control.main or control.period
        say(f"{protocol} {spec}, {seconds:g} s {shape}: {found.total()} games, {dict(found)}, "
            f"protocol errors {found['protocol errors']}, lost on time {late}, closest {-1000 * worst:.0f} ms before "
            f"it, {time.monotonic() - began:.0f} s")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=0.1)
    parser.add_argument("--against", default="rollout:50")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    for protocol, spec in CASES:
        run(protocol, spec, args.games // len(CASES), args.limit, args.against, args.seed,
            lambda text: print(text, flush=True))  # fmt: skip


if __name__ == "__main__":
    main()
