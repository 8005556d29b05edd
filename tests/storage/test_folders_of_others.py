"""A folder among the runs that this user cannot read, as lost+found or a run made as root in a container."""

import pytest

import games
from config import UserError, to_json
from players.runs_of_many_sizes import family_runs
from storage import run_folders
from storage.run_folders import find_run, runs_of, unfinished_run
from support.tiny_runs import tiny


@pytest.fixture
def runs(place, caplog):
    """Two runs of tic-tac-toe, as far as their settings, and a folder of the system."""
    run_folders._left_out.cache_clear()
    for number in (1, 2):
        folder = place / "tictactoe" / f"run000{number}"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(to_json(tiny()))
    (place / "lost+found").mkdir()
    return place


def said(caplog):
    return [record.getMessage() for record in caplog.records]


def test_a_run_that_cannot_be_read_is_left_out_and_a_line_says_so(runs, lock, caplog):
    newest = runs / "tictactoe" / "run0002"
    lock(newest)
    for _ in range(2):
        assert find_run("tictactoe").name == "run0001" == runs_of("tictactoe")[-1].name
    assert said(caplog) == [f"{newest} is left out: this user cannot read it"], "once"
    assert find_run("tictactoe", 1).name == "run0001"
    with pytest.raises(UserError, match="expected a run that this user can read, got .*run0002; "):
        find_run("tictactoe", 2)
    with pytest.raises(UserError, match="expected run0007 of tictactoe, there is run0001 in"):
        find_run("tictactoe", 7)


def test_a_run_whose_files_cannot_be_read_is_left_out(runs, lock, caplog):
    lock(runs / "tictactoe" / "run0002" / "config.json")
    assert find_run("tictactoe").name == "run0001" and len(said(caplog)) == 1


def test_the_folder_of_a_game_that_cannot_be_read_stops_only_who_means_it(runs, lock, caplog):
    lock(runs / "tictactoe")
    assert runs_of("tictactoe") == [] and unfinished_run("tictactoe") is None
    assert family_runs(games.make("tictactoe")) == [] and len(said(caplog)) == 1
    with pytest.raises(UserError, match="expected a run that this user can read, got .*tictactoe; "):
        find_run("tictactoe")
    with pytest.raises(UserError, match="there is none in .*connect4"):
        find_run("connect4")


def test_a_folder_of_the_system_among_the_runs_is_no_game(runs, lock):
    lock(runs / "lost+found")
    with pytest.raises(UserError, match="there is none in .*connect4"):
        find_run("connect4")
    assert find_run("tictactoe").name == "run0002"
