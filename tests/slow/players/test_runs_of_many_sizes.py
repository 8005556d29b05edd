"""Games without a run of their own are played by a network of many sizes, which says what it was trained on."""

import json
import shutil

import pytest

import games
from config import UserError
from evaluation.release import pack, write_levels
from interface.cli import run
from players.by_name import make_player, run_folder
from players.levels import Level, read_levels
from players.runs_of_many_sizes import family_run, family_runs
from storage.run_folders import shipped_folder
from support.command_line import output_of
from support.run_states import untrained
from system.shell import quoted


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


def test_levels_that_ship_are_those_of_the_largest_board(place):
    pack(untrained("gomoku(size=5..7)"), 1)
    level = Level("shipped", 8, 700.0, 20.0)
    write_levels(shipped_folder("gomoku(size=5..7)"), [level], 10)
    assert read_levels("gomoku(size=7)") == read_levels("gomoku(size=5..7)") == [level]
    assert read_levels("gomoku(size=6)") == []
    game = games.make("gomoku(size=7)")
    assert make_player("level:1", game).act(game.start(), 0)[0] in range(49)


def test_levels_says_how_a_network_of_many_sizes_was_trained_and_for_which_board_it_has_levels(place, capsys):
    pack(untrained("gomoku(size=5..7)"), 1)
    write_levels(shipped_folder("gomoku(size=5..7)"), [Level("shipped", 8, 700.0, 20.0)], 10)
    assert run(["levels", "--game", "gomoku(size=7)"]) == 0
    assert f"--new --game {quoted('gomoku(size=5..7)')} " in capsys.readouterr().out
    assert run(["levels", "--game", "gomoku(size=6)"]) == 0
    words = "no player of gomoku(size=6) ships with levels of play: those of its player are for gomoku(size=7)"
    assert capsys.readouterr().out == f"{words} (--game {quoted('gomoku(size=7)')})\n"
    with pytest.raises(UserError, match=r"\(none; gomoku\(size=7\) has some\), got level:1"):
        make_player("level:1", games.make("gomoku(size=6)"))


def test_the_levels_of_a_range_of_sizes_are_those_that_play_seats(capsys):
    def listed(spec):
        return output_of(capsys, "levels", "--game", spec, "--json")[1]

    assert json.loads(listed("gomoku(size=7..9)"))["levels"] and listed("gomoku(size=7..9)") == listed("gomoku")
