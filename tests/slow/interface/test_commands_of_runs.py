"""Commands with a trained run, and in processes of their own."""

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config import differences
from loggers import read_metrics
from storage.run_folders import read_config
from support.command_line import SMALL, output_of
from support.tiny_runs import tree_of
from training.presets import unfitted

HERE = Path(__file__).parents[3]


def test_training_starts_a_run_tells_what_it_takes_and_goes_on_when_asked(place, capsys):
    code, out, err = output_of(capsys, *SMALL, "--iterations", "1", "--new")
    folder = place / "tictactoe" / "run0001"
    assert (code, err) == (0, "")
    assert out.startswith("new run tictactoe/run0001, iteration 1\n")
    assert all(
        word in out
        for word in ("network:", "memory:", "disk:", "an iteration: 16 games", " iter  games", "    1     16")
    )
    assert "version 1 is the newest, none has proved better" in out and "--against run0001:current`" in out
    assert len(read_metrics(folder / "metrics.jsonl")) == 1
    assert "the same command starts another run; with --run 1 it resumes this one" in out
    assert out.endswith("the same command starts another run; with --run 1 it does nothing, as this one is finished\n")

    code, out, _ = output_of(capsys, "--game", "tictactoe", "--run", "1")
    assert code == 0 and "this run is finished; to continue it: more than 1 --iterations" in out
    assert "the same command" not in out, "a command in a restart loop stays with its run"
    assert len(read_metrics(folder / "metrics.jsonl")) == 1

    code, out, err = output_of(capsys, "--game", "tictactoe", "--run", "1", "--json")
    assert (code, out) == (0, "") and "this run is finished; to continue it: more than 1 --iterations" in err

    code, out, _ = output_of(capsys, "--game", "tictactoe", "--run", "1", "--iterations", "2", "--json")
    (line,) = out.splitlines()
    assert code == 0 and json.loads(line) == read_metrics(folder / "metrics.jsonl")[1]
    assert "changed setting iterations: 1 -> 2" in (folder / "logs" / "logger_main.log").read_text()

    before = tree_of(place)
    code, out, err = output_of(capsys, "--game", "tictactoe", "--run", "1", "--seed", "5", "--iterations", "3")
    assert code == 2 and "seed" in err and err.count("\n") == 1 and tree_of(place) == before
    assert [p.name for p in (place / "tictactoe").iterdir()] == ["run0001"]


def test_the_words_that_started_a_run_resume_it_with_the_same_settings(place, capsys):
    """Also those that follow from its minutes, its game and the processor: no words say them."""
    shutil.copy(HERE / "tests" / "support" / "corridor.py", place)
    words = ["--game", f"{place / 'corridor.py'}:Corridor", "--preset", "laptop", "--minutes", "0.5"]
    words += ["--score-every", "0", "--episodes", "8", "--mcts-sims", "4"]
    assert output_of(capsys, *words, "--new", "--iterations", "1")[0] == 0
    (folder,) = place.glob("corridor*/run0001")
    before = read_config(folder)
    filters, whole = (int(c.hidden_cnn_layers[0].split("x")[0]) for c in (before, unfitted("laptop")))
    assert 2 * filters == whole and before.min_memory < 1000, "they follow"
    assert output_of(capsys, *words, "--run", "1", "--iterations", "2")[0] == 0
    assert differences(before, read_config(folder)) == {"iterations": (1, 2)}


def test_explain_as_json_gives_numbers_that_agree(trained_place, capsys):
    code, out, err = output_of(capsys, "explain", "--game", "tictactoe", "--moves", "b2 a3", "--sims", "60", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "") and out.count("\n") == 1
    assert found["game"] == "tictactoe" and found["to_move"] == "X" and found["simulations"] >= 60
    assert found["player"].startswith("run0001:version")
    moves = found["moves"]
    assert sorted(m["move"] for m in moves) == sorted(["b3", "c3", "a2", "c2", "a1", "b1", "c1"])
    assert sum(m["N"] for m in moves) == found["simulations"] and 1 < found["nodes"]
    assert [m["N"] for m in moves] == sorted([m["N"] for m in moves], reverse=True)
    assert sum(m["P"] for m in moves) == pytest.approx(1, abs=1e-5)
    for m in moves:
        assert m["share"] == pytest.approx(m["N"] / found["simulations"])
        assert m["pv"][0] == m["move"] and m["U"] > 0 and (m["Q"] is None) == (m["N"] == 0)
    mean = (found["network_value"] + sum(m["N"] * (m["Q"] or 0) for m in moves)) / (1 + found["simulations"])
    assert found["search_value"] == pytest.approx(mean, abs=1e-6)


def test_explain_as_text_shows_the_board_and_a_trace_shows_every_simulation(trained_place, capsys, tmp_path):
    trace = tmp_path / "trace.log"
    argv = ["explain", "--game", "tictactoe", "--moves", "b2", "--sims", "30", "--trace", str(trace)]
    code, out, err = output_of(capsys, *argv)
    assert (code, err) == (0, "") and out.startswith("3  -  -  -") and "principal variation" in out
    won = output_of(capsys, "explain", "--game", "tictactoe", "--moves", "a1 a2 b1 b2", "--sims", "30")[1]
    assert ", 1 node\n" in won
    text = trace.read_text()
    assert text.count("leaf at depth") >= 30 and "back-fill" in text and "chosen: " in text
    said = f"error: {trace}: exists; --overwrite replaces it\n"
    assert output_of(capsys, *argv) == (2, "", said) and trace.read_text() == text
    assert output_of(capsys, *argv, "--overwrite")[0] == 0
    assert trace.read_text().count("leaf at depth") == text.count("leaf at depth"), "written new, not added to"


def test_explain_says_that_a_proven_position_needs_no_more_search(trained_place, capsys):
    argv = ["explain", "--game", "tictactoe", "--sims", "30", "--moves"]
    said = "\n\na proven position needs no more search\n"
    code, out, _ = output_of(capsys, *argv, "b2 a3 a1 c1 b3")
    assert code == 0 and "(proven " in out and out.endswith(said)
    code, out, _ = output_of(capsys, *argv, "b2")
    assert code == 0 and "(proven " not in out and said not in out


def test_a_match_as_json_gives_numbers_that_agree(trained_place, capsys):
    argv = [
        "match",
        "best",
        "random",
        "--game",
        "tictactoe",
        "--games",
        "10",
        "--sims",
        "10",
        "--opening-plies",
        "1",
    ]
    code, out, err = output_of(capsys, *argv, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "") and out.count("\n") == 1
    assert found["player2"] == "random" and found["games"] == 10 == found["wins"] + found["draws"] + found["losses"]
    assert found["score"] == (found["wins"] + found["draws"] / 2) / 10
    assert found["first_wins"] + found["second_wins"] + found["draws"] == 10
    low, elo, high = (found[name] for name in ("elo_low", "elo", "elo_high"))
    assert elo is None or low <= elo <= high
    assert output_of(capsys, *argv, "--json")[1] == out, "the same command gives the same match"
    code, words, _ = output_of(capsys, *argv)
    assert f"{found['wins']} won, {found['draws']} drawn, {found['losses']} lost" in words


@pytest.mark.parametrize("script", ["", "hint\nb2\n", "quit\n", "b2\nundo\nb2\nq\n", "\x00\nxyz\n"])
def test_a_script_that_ends_early_abandons_the_game_quietly(trained_place, capsys, monkeypatch, script):
    monkeypatch.setattr(sys, "stdin", io.StringIO(script))
    code, out, err = output_of(capsys, "play", "--game", "tictactoe", "--sims", "20")
    assert (code, err) == (0, "") and out.endswith("The game is abandoned.\n")
    assert ("principal variation" in out) == ("hint" in script)
    assert ("expects" in out) == ("b2" in script), "the network's answer is told with what it thinks"


def python(code, *options):
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.parametrize("argv", [["--help"], ["train", "--help"], ["play", "-h"]], ids=" ".join)
def test_help_is_shown_without_loading_what_is_slow(argv):
    code = f"""
import sys
from interface.cli import run
try:
    code = run({argv!r})
except SystemExit as end:
    code = end.code
slow = [name for name in ("tensorflow", "keras", "numba", "openvino", "matplotlib") if name in sys.modules]
print("CODE", code, "SLOW", slow)
"""
    found = python(code)
    assert found.stdout.rstrip().endswith("CODE 0 SLOW []"), found.stdout[-500:] + found.stderr
    assert "usage: python main.py" in found.stdout and found.stderr == ""


def test_an_error_in_a_process_of_its_own_has_one_line_and_the_exit_code():
    found = subprocess.run(
        [sys.executable, "main.py", "--cpuct", "0"],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert (found.returncode, found.stdout) == (2, "") and found.stderr.count("\n") == 1


COMPILED = """
import sys
sys.path.insert(0, "tests")
import numpy as np
from numba.core.dispatcher import Dispatcher
import game, memory
from games import boards, connect4
from search import expand, pipeline, simulate, tables
from training import selfplay, selfplay_step
from support.search_cases import GAMES, Projection, rooted
from support.tiny_runs import tiny
for name in ("connect4", "corridor"):
    rooted(GAMES[name]).search(Projection(GAMES[name]), 30)
    play = selfplay.SelfPlay(GAMES[name], tiny(), threads=1)
    records = list(play.play(Projection(GAMES[name]), [(0, 1)]))
    memory.Memory(GAMES[name], 100).extend(records)
found = {}
for module in (game, memory, boards, connect4, expand, pipeline, simulate, tables, selfplay, selfplay_step):
    for name, thing in vars(module).items():
        if isinstance(thing, Dispatcher):
            found[name] = sum(thing.stats.cache_hits.values()), sum(thing.stats.cache_misses.values())
missed = sorted(name for name, (_, misses) in found.items() if misses)
print("HITS", sum(hits for hits, _ in found.values()), "MISSED", missed)
"""


def test_a_second_start_compiles_nothing():
    first = python(COMPILED)
    assert first.returncode == 0, first.stderr
    found = first if first.stdout.endswith("MISSED []\n") else python(COMPILED)
    hits, missed = re.search(r"HITS (\d+) MISSED (.*)", found.stdout).groups()
    assert missed == "[]" and int(hits) >= 3
