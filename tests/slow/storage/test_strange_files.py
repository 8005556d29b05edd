"""Files of a run that are pipes, devices or far too large: each is refused or replaced at once, none is waited for."""

import os
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from config import UserError
from games.own import digest
from initialise import Session
from loggers import read_metrics
from players.book import load_book
from storage.game_exchange import read_games
from storage.game_files import load
from storage.recover import recover
from storage.run_folders import find_run, require_free
from storage.verify import verify
from support.run_states import copied
from support.strange_files import in_time, put
from support.systems import needs_posix
from support.tiny_runs import QUIET
from system.reading import open_regular, read_limited

pytestmark = needs_posix

FILES = ("config.json", "run.mark", "run.db", "run.db-wal", "run.db-journal", "metrics.jsonl", "lock",
         "logs/logger_main.log", "models/version0001.npz", "models/optimizer0001.npz")  # fmt: skip


@pytest.fixture(autouse=True)
def within_time():
    with in_time():
        yield


@pytest.mark.parametrize(
    "name, how",
    [(name, how) for name in FILES for how in ("pipe", "device", "folder", "large")
     if (how, name[:6]) != ("large", "run.db")],
)  # fmt: skip
def test_a_strange_file_in_a_run_is_refused_or_replaced_and_never_waited_for(begun, tmp_path, quick, name, how):
    folder = copied(begun, tmp_path)
    put(folder / name, how)
    tracemalloc.start()
    ended = []
    for work in (verify, require_free, recover, opened):
        try:
            ended.append(work(folder))
        except UserError as error:
            assert "\n" not in str(error)
            ended.append(None)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(ended) == 4 and most < 64 << 20, "and nothing large is read whole"


def opened(folder):
    Session.open(folder, console=QUIET).close()


@pytest.mark.parametrize("how", ["pipe", "device", "folder", "large"])
def test_a_file_that_a_user_names_is_a_regular_one_of_a_sensible_size(tmp_path, how):
    from game import Game
    from games import make

    game: Game = make("littlego")
    for read, ending in (
        (lambda path: load(path, game), "json"), (lambda path: load(path, game), "sgf"), (read_games, "npz"),
        (lambda path: load_book(path, game), "json"), (lambda path: make(f"{path}:Mine"), "py"),
    ):  # fmt: skip
        path = tmp_path / f"{how}.{ending}"
        if path.is_dir():
            path.rmdir()
        put(path, how)
        with pytest.raises(UserError, match=f"{path.stem}|/dev/zero") as told:
            read(path)
        assert "\n" not in str(told.value)
    assert digest(game) == ""


def test_what_is_read_is_read_as_far_as_its_limit(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    (tmp_path / "link").symlink_to(path)
    assert read_limited(path, 5) == read_limited(tmp_path / "link", 5) == b"12345"
    with pytest.raises(OSError, match="expected at most 4 bytes"):
        read_limited(path, 4)
    if Path("/proc/self/stat").exists():
        assert read_limited(Path("/proc/self/stat"), 1 << 20).startswith(str(os.getpid()).encode()), "its size is 0"
    with pytest.raises(OSError, match="regular file"):
        open_regular(tmp_path)


def test_a_process_that_meets_a_pipe_says_so_and_ends_by_itself(trained_place):
    folder = find_run("tictactoe", root=trained_place)
    shutil.copy(folder / "config.json", folder / "kept")
    for name in ("config.json", "run.mark"):
        put(folder / name, "pipe")
    main = Path(__file__).parents[3] / "main.py"
    environment = {**os.environ, "ALPHAZERO_RUNS": str(trained_place)}
    process = subprocess.Popen([sys.executable, str(main), "--game", "tictactoe", "--run", "1", "--iterations", "9"],
                               env=environment, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)  # fmt: skip
    _, said = process.communicate(timeout=280)
    assert process.returncode == 2 and b"config.json" in said and b"regular file" in said


def test_lines_of_metrics_that_cannot_be_read_are_none(tmp_path):
    put(tmp_path / "metrics.jsonl", "pipe")
    assert read_metrics(tmp_path / "metrics.jsonl") == []
