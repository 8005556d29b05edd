"""Conversations with the programs of others: Sabaki's GTP client, KaTrain's engine class, GNU Go, a Piskvork manager.

NODE_MODULES names the folder with @sabaki/gtp, KATRAIN_PYTHON a Python that has katrain; tests whose program is not
there skip.
"""

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import games
from plugins.engines.programs.child_program import FOLDERS
from plugins.engines.programs.gomocup import Brain
from plugins.engines.programs.gtp import SHORT, Engine

HERE = Path(__file__).parents[4]
NODE, SUPPORT = shutil.which("node"), Path(__file__).parent
SABAKI = Path(os.environ.get("NODE_MODULES", HERE / "node_modules")) / "@sabaki" / "gtp"
KATRAIN = os.environ.get("KATRAIN_PYTHON", "")
GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path=FOLDERS)
OURS = [sys.executable, str(HERE / "main.py")]
VERTEX = re.compile("[A-HJ][1-9]|pass")
# Sabaki's own client is a package of Node, which .ci/run installs; without it there is nobody to talk to
with_sabaki = pytest.mark.skipif(NODE is None or not SABAKI.is_dir(), reason="@sabaki/gtp is not installed")


def output(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, timeout=1000, **options)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@with_sabaki
def test_sabakis_client_plays_a_game_and_analyses_during_it():
    found = output(NODE, SUPPORT / "sabaki_game.js", SABAKI, *OURS, "gtp", "--sims", "30")
    assert found["name"] == "alphazero-keras" and "lz-analyze" in found["commands"]
    assert len(found["analysis"]) >= 3 and all(line.startswith("info move ") for line in found["analysis"])
    assert all(VERTEX.fullmatch(move) for move in found["moves"]) and min(found["chosen"]) >= 1
    assert [move.lower() for move in found["moves"][-2:]] == ["pass", "pass"] or len(found["moves"]) == 60
    assert re.fullmatch(r"[BW]\+[0-9.]+", found["score"]) and found["tracked"] == len(found["moves"])
    assert found["board"].count("X") == 2 and found["board"].count("O") == 2  # a stone of each, and the line below


@with_sabaki
def test_sabakis_client_gets_the_moves_of_a_level_that_shows_no_search():
    found = output(NODE, SUPPORT / "sabaki_game.js", SABAKI, *OURS, "gtp", "level:2")
    assert found["analysis"] == [] and set(found["chosen"]) == {0}
    assert len(found["moves"]) > 1 and all(VERTEX.fullmatch(move) for move in found["moves"])


@pytest.mark.skipif(not KATRAIN, reason="katrain is not installed: KATRAIN_PYTHON is not set")
def test_katrains_engine_class_analyses_a_game_with_policy_and_ownership(tmp_path):
    command = shlex.join([*OURS, "analysis"])
    environment = {**os.environ, "KIVY_HOME": str(tmp_path), "HOME": str(tmp_path)}
    found = output(KATRAIN, SUPPORT / "katrain_game.py", command, env=environment)
    assert found["errors"] == [] and found["complete"] == [True] * 6
    assert all(0 <= rate <= 1 for rate in found["winrate"]) and all(-28 < score < 23 for score in found["score"])
    assert found["policy"] == [26] * 6 and found["ownership"] == [25] * 6
    assert all(VERTEX.fullmatch(move) for moves in found["candidates"] for move in moves)
    assert all(isinstance(lost, float) for lost in found["lost"]) and found["on_the_way"][:2] == [True, True]


@pytest.mark.skipif(GNUGO is None, reason="gnugo is not installed")
def test_gnugo_plays_us_and_another_one_referees():
    gnugo = [GNUGO, *shlex.split(SHORT["gnugo"])[1:]]
    engines = [Engine([*OURS, "gtp", "--sims", "40"], 600.0, 600.0), Engine(gnugo, 600.0, 600.0)]
    referee = Engine(gnugo, 600.0, 600.0)
    for engine in (*engines, referee):
        for command in ("boardsize 5", "komi 2.5", "clear_board"):
            engine.ask(command)
    moves = []
    for number in range(100):
        colour, one, other = "bw"[number % 2], engines[number % 2], engines[(number + 1) % 2]
        moves.append(one.ask(f"genmove {colour}").upper())
        for engine in (other, referee):  # an illegal move would be refused, which raises
            engine.ask(f"play {colour} {moves[-1]}")
        if moves[-2:] == ["PASS", "PASS"]:
            break
    assert moves[-2:] == ["PASS", "PASS"]
    if not referee.ask("final_status_list dead"):
        assert float(engines[0].ask("final_score")[2:]) == float(referee.ask("final_score")[2:])


def test_a_manager_of_piskvork_lets_two_of_our_engines_play():
    """Written from the text of the protocol: START, INFO, BEGIN, TURN, BOARD, END, with lines that end in CR LF."""
    game = games.make("gomoku")
    brains = [Brain([*OURS, "gomocup", name], 600.0, 600.0) for name in ("shipped", "rollout:200")]
    state, moves = game.start(), []
    for brain in brains:
        assert brain.ask(["START 9"]) == "OK"
        brain.inform(["timeout_turn 100", "timeout_match 100000", "rule 0", "max_memory 2000000000"])
    for brain in itertools.cycle(brains):
        brain.inform([f"time_left {90_000 - 100 * len(moves)}"])
        answer = brain.ask([f"TURN {moves[-1]}"] if moves else ["BEGIN"])
        assert re.fullmatch("[0-8],[0-8]", answer)
        x, y = map(int, answer.split(","))
        state = state.takeAction(9 * y + x)[0]  # raises where a move is not legal
        moves.append(answer)
        if state.isEndGame:
            break
    assert len(moves) >= 9
    stones = [f"{move},{1 + number % 2}" for number, move in enumerate(moves[:4])]
    assert brains[0].ask(["RESTART"]) == "OK"
    assert re.fullmatch("[0-8],[0-8]", brains[0].ask(["BOARD", *stones, "DONE"]))
    for move in reversed(moves[:4]):
        assert brains[1].ask([f"TAKEBACK {move}"]) == "OK"
