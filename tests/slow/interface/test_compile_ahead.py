"""`prepare` compiles ahead: afterwards neither a search nor self-play compiles anything. With the code that ships it
compiles nothing either."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compiling import ready_code
from interface.cli import run

HERE = Path(__file__).parents[3]
AFTER = """
import games
from agent import Agent
from compiling.progress import Watch
from interface.compile_ahead import equal_priors
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


FRESH = """
import json
import games
from compiling import ready_code
from compiling.progress import Watch
from interface.compile_ahead import compile_ahead

found, where, watch = [], ready_code.ready_file, Watch(lambda progress: None)

def noted(function, signature):
    path = where(function, signature)
    found.append(path.name)
    return path

ready_code.ready_file = noted
for name in games.names():
    compile_ahead(games.make(name))
print(json.dumps({"made": watch.done, "found": sorted(found)}))
"""


# Code ships for the systems on which it was made and tried; elsewhere all is compiled, and there is nothing to compare.
@pytest.mark.skipif(not ready_code.SHIPS, reason=f"no code ships for {ready_code.SYSTEM}")
def test_the_code_that_ships_is_of_these_sources_and_all_that_is_needed(tmp_path):
    """Where it is not: `python distribution/make_ready_code.py`."""
    environment = {**os.environ, "PYTHONPATH": str(HERE), "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", FRESH], env=environment, cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["found"] == sorted(path.name for path in ready_code.FOLDER.iterdir())
    assert seen["made"] == len(seen["found"]), "nothing was compiled besides"
