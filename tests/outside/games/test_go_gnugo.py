"""Go as GNU Go plays it: the same legal moves in random games."""

import os
import shutil
import subprocess

import numpy as np
import pytest

import games

GNUGO = shutil.which("gnugo", path=os.environ.get("PATH", "") + ":/usr/games")


@pytest.mark.skipif(GNUGO is None, reason="gnugo is not installed")
@pytest.mark.parametrize("size, count", [(5, 10), (7, 4), (9, 3)])
def test_legal_moves_of_random_games_are_those_of_gnu_go(size, count):
    game, rng = games.make(f"go(size={size})"), np.random.default_rng(2)
    with subprocess.Popen(
        [GNUGO, "--mode", "gtp", "--chinese-rules"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:

        def ask(command):
            program.stdin.write(command + "\n")
            program.stdin.flush()
            answer = program.stdout.readline()
            assert program.stdout.readline() == "\n" and answer.startswith("="), (command, answer)
            return answer[1:].split()

        for _ in range(count):
            ask(f"boardsize {size}")
            ask("clear_board")
            state = game.start()
            while not state.isEndGame:
                colour = "black" if state.playerTurn == 1 else "white"
                found = sorted(game.parse_move(vertex) for vertex in ask(f"all_legal {colour}"))
                assert found == state.allowedActions[:-1], f"\n{state}"
                action = int(rng.choice(state.allowedActions))
                ask(f"play {colour} {game.move_name(action)}")
                state = state.takeAction(action)[0]
        ask("quit")
