"""Games without a run of their own are played by a network of many sizes, which says what it was trained on."""

import json
import shutil

import pytest

import games
from config import UserError
from evaluation.release import pack, write_levels
from initialise import Session
from interface.cli import run
from players.by_name import make_player, run_folder
from players.family import family_run, family_runs
from players.levels import Level, read_levels
from plugins.engines.serving import PlayerSource
from plugins.page import web_players
from plugins.page.web_players import SHIPS, runs_by_name
from storage import run_folders
from storage.run_folders import shipped_folder
from support.command_line import output_of
from support.tiny_runs import QUIET, tiny, trained_looking
from system.shell import quoted


@pytest.fixture
def begin(place):
    """Return f(game) -> the folder of a run with a second network; nothing is trained."""

    def start(game):
        with Session.start(tiny(game=game, many_sizes=".." in game), console=QUIET) as session:
            session.model.set_weights(trained_looking(session.model))
            with session.store.transaction("test"):
                session.save_version(1, 1, {})
            return session.folder

    return start


def said(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "alphazero.lineup"]


def test_a_size_without_a_run_is_played_by_what_ships_for_all_sizes(begin, caplog):
    with pytest.raises(UserError, match="expected a trained run of gomoku.size=6., there is none"):
        run_folder(games.make("gomoku(size=6)"), None)
    pack(begin("gomoku(size=5..7)"), 1)
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


def test_a_run_of_the_very_game_comes_first_then_one_trained_on_its_board(begin):
    many = begin("gomoku(size=5..6)")
    assert run_folder(games.make("gomoku(size=5)"), None) == many == run_folder(games.make("gomoku(size=11)"), 1)
    pack(begin("gomoku(size=7)"), 1)
    assert run_folder(games.make("gomoku(size=7)"), None).parent.name == "gomoku-size-7"
    assert "shipped" not in str(run_folder(games.make("gomoku(size=7)"), None))
    own = begin("gomoku(size=5)")
    assert run_folder(games.make("gomoku(size=5)"), None) == own
    pack(begin("gomoku(size=8)"), 1)
    assert run_folder(games.make("gomoku(size=8)"), 0) == shipped_folder("gomoku(size=8)")


def test_a_copy_of_a_run_under_another_name_is_not_taken_for_it(begin):
    many, game = begin("gomoku(size=5..6)"), games.make("gomoku(size=5)")
    for name in ("run0001-copy", "sub-old", "backup"):
        shutil.copytree(many, many.with_name(name))
    assert run_folder(game, None) == run_folder(game, 1) == many and family_runs(game) == [many]


def test_the_nearest_komi_is_taken_and_told(begin, caplog):
    begin("go(komi=9,size=3..4)")
    near = begin("go(komi=7,size=3..4)")
    game = games.make("go(size=3)")
    assert family_run(game) == near
    make_player("current", game)
    assert said(caplog) == ["go(size=3): a network of many sizes plays, trained on go(komi=7,size=3..4)"]


def test_levels_that_ship_are_those_of_the_largest_board(begin):
    pack(begin("gomoku(size=5..7)"), 1)
    level = Level("shipped", 8, 700.0, 20.0)
    write_levels(shipped_folder("gomoku(size=5..7)"), [level], 10)
    assert read_levels("gomoku(size=7)") == read_levels("gomoku(size=5..7)") == [level]
    assert read_levels("gomoku(size=6)") == []
    game = games.make("gomoku(size=7)")
    assert make_player("level:1", game).act(game.start(), 0)[0] in range(49)


def test_levels_says_how_a_network_of_many_sizes_was_trained_and_for_which_board_it_has_levels(begin, capsys):
    pack(begin("gomoku(size=5..7)"), 1)
    write_levels(shipped_folder("gomoku(size=5..7)"), [Level("shipped", 8, 700.0, 20.0)], 10)
    assert run(["levels", "--game", "gomoku(size=7)"]) == 0
    assert f"--new --game {quoted('gomoku(size=5..7)')} " in capsys.readouterr().out
    assert run(["levels", "--game", "gomoku(size=6)"]) == 0
    words = "no player of gomoku(size=6) ships with levels of play: those of its player are for gomoku(size=7)"
    assert capsys.readouterr().out == f"{words} (--game {quoted('gomoku(size=7)')})\n"
    with pytest.raises(UserError, match=r"\(none; gomoku\(size=7\) has some\), got level:1"):
        make_player("level:1", games.make("gomoku(size=6)"))


def test_it_evaluates_for_engines_where_other_rules_have_no_network(begin):
    pack(begin("gomoku(size=5..7)"), 1)
    source = PlayerSource("best", sims=8)
    for size in (6, 8):
        game = games.make(f"gomoku(size={size},rule=renju)")
        assert source.player(game).act(game.start(), 0)[0] in range(size * size)
        assert source.note == f"no network was trained for {game.spec}: that of gomoku(size={size}) evaluates"


def test_the_page_offers_them_too(begin, monkeypatch):
    for name in ("RUNS", "SHIPPED"):
        monkeypatch.setattr(web_players, name, getattr(run_folders, name))
    pack(begin("gomoku(size=5..7)"), 1)
    found = runs_by_name("gomoku(size=6)")
    assert list(found) == ["run0001", f"{SHIPS}run0001"]
    roster = web_players.Roster()
    assert "gomoku(size=5..7)" in roster.games() and "gomoku(size=5..7)" not in roster.boards()
    assert "gomoku(size=7)" in roster.boards() and len(roster.boards()) == len(set(roster.boards()))
    assert roster.find("gomoku(size=8..10)", []) == "gomoku(size=10)"


def test_the_levels_of_a_range_of_sizes_are_those_that_play_seats(capsys):
    def listed(spec):
        return output_of(capsys, "levels", "--game", spec, "--json")[1]

    assert json.loads(listed("gomoku(size=7..9)"))["levels"] and listed("gomoku(size=7..9)") == listed("gomoku")
