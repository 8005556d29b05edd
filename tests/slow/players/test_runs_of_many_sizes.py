"""Games without a run of their own are played by a network of many sizes, which says what it was trained on."""

import json
import shutil

import pytest

import games
from config import UserError
from evaluation.release import pack, write_levels
from interface.cli import run
from players.by_name import make_player, run_folder
from players.levels import FILE, Level, file_on, read_levels
from players.runs_of_many_sizes import family_run, family_runs
from storage.run_folders import shipped_folder
from support.command_line import output_of
from support.run_states import untrained
from system.shell import quoted

pytestmark = pytest.mark.keras


def said(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "alphazero.players"]


def test_a_size_without_a_run_is_played_by_what_ships_for_all_sizes(place, caplog):
    with pytest.raises(UserError, match="expected a trained run of gomoku.size=6., there is none"):
        run_folder(games.make("gomoku(size=6)"), None)
    pack(untrained("gomoku(size=5..7)"), 1)
    for spec, size in (("gomoku(size=6)", 6), ("gomoku(size=8)", 8)):
        caplog.clear()
        game = games.make(spec)
        player = make_player("shipped", game, sims=8)
        action, pi, value, _ = player.act(game.start(), 0)
        assert 0 <= action < size * size and len(pi) == size * size and -1 <= value <= 1
        outside = ", not on this board" if size == 8 else ""
        wanted = f"{spec}: a network of many sizes plays, trained on gomoku(size=5..7){outside}"
        assert said(caplog) == [wanted] and player.name == "shipped:version0001"
    with pytest.raises(UserError, match="gomoku.rule=renju,size=6."):
        make_player("shipped", games.make("gomoku(rule=renju,size=6)"))


def test_a_run_of_the_very_game_comes_first_then_one_trained_on_its_board(place):
    many = untrained("gomoku(size=5..6)")
    assert run_folder(games.make("gomoku(size=5)"), None) == many == run_folder(games.make("gomoku(size=11)"), 1)
    pack(untrained("gomoku(size=7)"), 1)
    assert run_folder(games.make("gomoku(size=7)"), None).parent.name == "gomoku-size-7"
    assert "shipped" not in str(run_folder(games.make("gomoku(size=7)"), None))
    own = untrained("gomoku(size=5)")
    assert run_folder(games.make("gomoku(size=5)"), None) == own
    pack(untrained("gomoku(size=8)"), 1)
    assert run_folder(games.make("gomoku(size=8)"), 0) == shipped_folder("gomoku(size=8)")


def test_a_copy_of_a_run_under_another_name_is_not_taken_for_it(place):
    many, game = untrained("gomoku(size=5..6)"), games.make("gomoku(size=5)")
    for name in ("run0001-copy", "sub-old", "backup"):
        shutil.copytree(many, many.with_name(name))
    assert run_folder(game, None) == run_folder(game, 1) == many and family_runs(game) == [many]


def test_the_nearest_komi_is_taken_and_told(place, caplog):
    untrained("go(komi=9,size=3..4)")
    near = untrained("go(komi=7,size=3..4)")
    game = games.make("go(size=3)")
    assert family_run(game) == near
    make_player("current", game)
    assert said(caplog) == ["go(size=3): a network of many sizes plays, trained on go(komi=7,size=3..4)"]


def test_each_board_has_the_levels_that_were_measured_on_it(place):
    pack(untrained("gomoku(size=5..7)"), 1)
    largest, smallest = Level("shipped", 8, 700.0, 20.0), Level("shipped", 4, 300.0, 20.0)
    run = shipped_folder("gomoku(size=5..7)")
    for level, board in (largest, "gomoku(size=7)"), (smallest, "gomoku(size=5)"):
        write_levels(file_on(run, games.make(board)), [level], 10)
    assert read_levels("gomoku(size=7)") == read_levels("gomoku(size=5..7)") == [largest]
    assert read_levels("gomoku(size=5)") == [smallest] and read_levels("gomoku(size=6)") == []
    assert (run / FILE).exists() and (run / "levels_5x5.json").exists()
    for board in "gomoku(size=7)", "gomoku(size=5)":
        game = games.make(board)
        assert game.start().takeAction(make_player("level:1", game).act(game.start(), 0)[0])


def test_levels_of_other_rules_are_no_levels(place):
    """The network plays a game of another komi as well; how strongly was not measured."""
    pack(untrained("go(komi=9,size=3..4)"), 1)
    write_levels(shipped_folder("go(komi=9,size=3..4)") / FILE, [Level("shipped", 8, 700.0, 20.0)], 10)
    assert read_levels("go(komi=9,size=4)") and read_levels("go(komi=7,size=4)") == []


def test_levels_says_how_a_network_of_many_sizes_was_trained_and_for_which_board_it_has_levels(place, capsys):
    pack(untrained("gomoku(size=5..7)"), 1)
    folder = shipped_folder("gomoku(size=5..7)")
    for board in "gomoku(size=5)", "gomoku(size=7)":
        write_levels(file_on(folder, games.make(board)), [Level("shipped", 8, 700.0, 20.0)], 10)
    assert run(["levels", "--game", "gomoku(size=7)"]) == 0
    assert f"--new --game {quoted('gomoku(size=5..7)')} " in capsys.readouterr().out
    assert run(["levels", "--game", "gomoku(size=6)"]) == 0
    words = "no player of gomoku(size=6) ships with levels of play: those of its player are for "
    first, trained, *_ = capsys.readouterr().out.splitlines()
    assert first == f"{words}gomoku(size=7), gomoku(size=5) (--game {quoted('gomoku(size=7)')})"
    assert f"--new --game {quoted('gomoku(size=5..7)')} " in trained
    with pytest.raises(UserError, match=r"\(none; there are some of gomoku\(size=7\) and gomoku\(size=5\)\), got l"):
        make_player("level:1", games.make("gomoku(size=6)"))


def test_the_levels_of_a_range_of_sizes_are_those_that_play_seats(capsys):
    def listed(spec):
        return output_of(capsys, "levels", "--game", spec, "--json")[1]

    assert json.loads(listed("gomoku(size=7..9)"))["levels"] and listed("gomoku(size=7..9)") == listed("gomoku")
