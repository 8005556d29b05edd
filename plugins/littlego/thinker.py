"""The process that thinks about a position of Little-Go for turn.py, which waits for its answers.

It loads the rules while the other process still reads the position. Then a short search with rollouts gives a first
answer, next to which the player is loaded, a network for example. Every answer is a line of JSON.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

import numpy as np

from agent import Player
from config import UserError
from game import GameState
from games.littlego import LittleGo
from players.by_name import make_player
from players.rollout import RolloutPlayer

FIRST = 4000
"""Rollouts of the first answer: some 0.2 s of one core."""
Say = Callable[[dict[str, Any]], None]


def answer_task() -> bool:
    """Read a task from the standard input and write the answers; late ones, which nobody reads, are dropped.

    Return whether all was done, so that what turns need is compiled.
    """

    def say(answer: dict[str, Any]) -> None:
        with suppress(OSError):
            os.write(1, json.dumps(answer).encode() + b"\n")  # one write: two threads answer

    if line := sys.stdin.readline():
        try:
            return think(json.loads(line), say)
        except Exception as error:
            say({"action": None, "by": f"{type(error).__name__}: {error}", "final": True})
    return False


def think(task: dict[str, Any], say: Say) -> bool:
    """Think about a position and say every answer; return False where the user's player cannot be made.

    task: `player_to_move`, `before` and `board` (25 points in {1, -1, 0}), `ply`, `end` (of time.monotonic, which all
    processes of a machine share), `player` (a name or ""), `sims`, `seed`.
    answer: `action` (None: no move was found), `by` (whom, or why not), `final`; or `error`, the user's.
    """
    before, board = (np.array(task[name]).reshape(5, 5) for name in ("before", "board"))
    state = LittleGo().position(before, board, task["player_to_move"], task["ply"])
    first = Thread(target=_answer_first, args=(state, task, say))
    first.start()
    try:
        try:
            player, by = load(task["player"], sims=task["sims"], seconds=_left(task))
        except UserError as error:
            say({"error": str(error)})
            return False
        action = _choice(player, state, task)
        if action not in state.allowedActions:
            raise ValueError(f"the illegal move {action}")
    except Exception as error:  # `UserError` too: NaN from a network, too little memory
        action = _choice(RolloutPlayer(LittleGo(), seconds=_left(task)), state, task)
        by = f"rollouts: the player failed: {type(error).__name__}: {error}"
    say({"action": action, "by": by, "final": True})
    first.join()  # the next turn finds its code compiled
    return True


def load(name: str, *, sims: int, seconds: float) -> tuple[Player, str]:
    """Return (the player with a name, a message about its choice); `UserError` if it is unknown.

    An empty name is the best network, else the one that ships, else rollouts for some seconds, else random moves.
    """
    named = [name] if name else ["best", "shipped", f"rollout:{math.ceil(seconds)}s", "random"]
    reason = ""
    for each in named[:-1]:
        try:
            player = make_player(each, LittleGo(), sims=sims)
            return player, player.name + reason
        except UserError as error:
            reason = reason or f" ({str(error).splitlines()[0]})"
    player = make_player(named[-1], LittleGo(), sims=sims)
    return player, player.name + reason


def _answer_first(state: GameState, task: dict[str, Any], say: Say) -> None:
    with suppress(Exception):  # the player's answer comes anyhow
        action = _choice(RolloutPlayer(LittleGo(), sims=FIRST), state, task)
        say({"action": action, "by": f"rollout:{FIRST}, as the player had no answer yet", "final": False})


def _choice(player: Player, state: GameState, task: dict[str, Any]) -> int:
    player.deadline = task["end"]
    player.new_games(1)
    player.new_game(0, task["seed"])
    return int(player.act_many([0], [state], [0.0])[0].action)


def _left(task: dict[str, Any]) -> float:
    return float(max(task["end"] - time.monotonic(), 0.1))
