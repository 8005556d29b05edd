"""GNU Go reads the same records of Go, and has the same stones on the board and the same side to move."""

import os
import shutil
import subprocess

import pytest

from games.line_of_moves import after_moves, stones_of
from storage.game_files import from_bytes
from support.record_files import made

GNUGO = shutil.which("gnugo", path=os.environ.get("PATH", "") + ":/usr/games")
KINDS = ("server", "fox", "crowded", "twice", "position")


@pytest.mark.skipif(GNUGO is None, reason="gnugo is not installed")
def test_gnugo_has_the_same_stones_after_ninety_four_records(tmp_path):
    """All of Go but six in Big5, whose letters with the byte of a bracket GNU Go does not know."""
    files = [file for file in map(made, range(300)) if file.kind in KINDS and b"CA[Big5]" not in file.data]
    commands = []
    for number, file in enumerate(files):
        (tmp_path / f"{number}.sgf").write_bytes(file.data)
        commands += [f"loadsgf {number}.sgf", "list_stones black", "list_stones white"]
    run = subprocess.run(
        [GNUGO, "--mode", "gtp"],
        cwd=tmp_path,
        input="\n".join([*commands, "quit", ""]).encode(),
        capture_output=True,
        timeout=600,
        check=True,
    )
    answers = [text.strip() for text in run.stdout.decode().split("\n\n")]
    assert len(files) == 94
    for number, file in enumerate(files):
        turn, black, white = answers[3 * number : 3 * number + 3]
        found = from_bytes(file.data, ".sgf")
        end = after_moves(found.game, found.moves)
        size, board = found.game.grid_shape[0], stones_of(end)
        for stone, theirs in ((1, black), (-1, white)):
            ours = {
                f"{'ABCDEFGHJKLMNOPQRST'[c]}{size - r}"
                for r in range(size)
                for c in range(size)
                if board[r, c] == stone
            }
            assert set(theirs.removeprefix("=").split()) == ours, (file, turn)
        if file.kind == "position":
            assert turn == f"= {'black' if end.playerTurn == 1 else 'white'}", file
