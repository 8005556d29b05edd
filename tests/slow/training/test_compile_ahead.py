"""`prepare` compiles ahead: afterwards neither a search nor self-play compiles anything."""

import os
import subprocess
import sys
from pathlib import Path

from interface.cli import run

HERE = Path(__file__).parents[3]
AFTER = """
import games
from agent import Agent
from compiling.progress import Watch
from training.compile_ahead import equal_priors
from training.selfplay import SelfPlay, game_seed
from support.tiny_runs import tiny
watch = Watch(lambda progress: None)
game = games.make("connect4(rows=4,columns=4)")
Agent("again", game, equal_priors(game), mcts_sims=20).act(game.start(), 0.0)
list(SelfPlay(game, tiny(game=game.spec)).play(equal_priors(game), [(0, game_seed("again", 1, 0))]))
print("COMPILED", watch.done)
"""


def test_what_is_prepared_is_not_compiled_again(capsys):
    assert run(["prepare", "--game", "connect4"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("connect4: ready\n") and out.count("\n") == 2
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), str(HERE / "tests")])}
    done = subprocess.run([sys.executable, "-c", AFTER], env=environment, cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("COMPILED 0\n")
