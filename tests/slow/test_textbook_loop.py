"""The textbook's loop learns, and says how it fares."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import textbook

HERE = Path(__file__).parents[2]


def test_the_loop_says_how_it_fares_and_shows_boards(capsys):
    lost = textbook.main(iterations=2, episodes=3, sims=4)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[3:5]] == ["iteration 1", "iteration 2"]
    told = [int(line.split()[-2]) for line in lines if line.startswith("  moves ")]
    assert lost == sum(told[2:]) and lines[-1] == ("it can be beaten" if lost else "it never loses")
    positions = [line for line in lines if "to move" in line]
    assert [line.split()[-3] for line in positions] == ["X", "O", "X"]
    top, *_ = lines[lines.index("a game against itself:") + 2 :]
    assert 5 <= len(top.split("    ")) <= 9, "the boards of a game"


def test_copied_alone_into_an_empty_folder_it_learns_and_never_loses(tmp_path):
    shutil.copy(HERE / "textbook.py", tmp_path)
    command = [sys.executable, "-I", "textbook.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "it never loses", done.stdout
    before, after = (sum(map(int, re.findall(r"(\d+) lost", text))) for text in done.stdout.split("iteration 1:"))
    assert before > 0 and after == 0
