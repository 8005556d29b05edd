"""What `export-page` refuses, and how the board is read from a game's planes."""

import os

import pytest

import games
from config import UserError
from plugins.browser.assemble import PageParts, facts_of
from plugins.browser.commands.export_page import run
from plugins.browser.engine import board_of, make_engine
from plugins.browser.player import page_parts
from plugins.browser.site import shipped_games, write_site


@pytest.mark.parametrize(
    "argv, said",
    [
        (["-o", "page.txt"], "expected a file name that ends in .html"),
        (["rollout:5", "-o", "page.html"], "expected a network such as shipped, best or run0002:best"),
        (["sym:shipped", "-o", "page.html"], "expected a network such as shipped, best or run0002:best"),
        (["--game", "open_spiel:breakthrough", "-o", "page.html"], "expected a trained run|OpenSpiel|pyspiel"),
        (["--site", "folder", "-o", "page.html"], "expected -o FILE or --site FOLDER, got both"),
        (["--games", "connect4"], "expected --site FOLDER with --games"),
        (["--site", "folder", "--game", "hex"], "expected --games hex with --site, got --game"),
        (["--site", "folder", "--games", "chess"], "expected a game|chess"),
        (["--site", "folder", "--games", "metasquares"], "expected a player of metasquares that ships"),
    ],
)
def test_a_wrong_command_is_one_line(argv, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=said) as caught:
        run(argv)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_file_that_exists_is_kept(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    with pytest.raises(UserError, match="exists"):
        run(["-o", str(path)])
    assert path.read_text() == "mine"


def test_a_site_replaces_an_earlier_one_and_nothing_else(tmp_path, monkeypatch):
    facts = facts_of(games.make("tictactoe"), {"player": {"name": "shipped"}, "levels": []})
    monkeypatch.setattr("plugins.browser.site.page_parts", lambda player, game: PageParts(b"", {}, b"", facts, ""))
    site = tmp_path / "site"
    site.mkdir()
    (site / "CNAME").write_text("example.org")  # it stays
    command = ["--site", str(site), "--games", "tictactoe"]
    assert run(command) == run(command) == 0
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "index.html").write_text("mine")
    (mine / "service-worker.js").write_text("// mine, too")
    with pytest.raises(UserError, match="expected a folder without index.html, or an earlier site"):
        run(["--site", str(mine), *command[2:]])
    assert {path.name: path.read_text()[:7] for path in mine.iterdir()} == {
        "index.html": "mine",
        "service-worker.js": "// mine",
    }
    with pytest.raises(UserError, match="got a file"):
        run(["--site", str(mine / "index.html"), *command[2:]])
    assert run(["--site", str(mine), *command[2:], "--overwrite"]) == 0
    assert (mine / "index.html").read_text() == (site / "index.html").read_text()


@pytest.mark.parametrize(
    "named, held",
    [
        (["tictactoe"], "1 game"),
        (["tictactoe", "tictactoe"], "1 game"),
        (["connect4", "Connect4( rows=6 )"], "1 game"),
        (["tictactoe", "connect4"], "2 games"),
    ],
)
def test_a_site_says_how_many_games_it_holds(tmp_path, monkeypatch, capsys, named, held):
    facts = facts_of(games.make("tictactoe"), {"player": {"name": "shipped"}, "levels": []})
    monkeypatch.setattr("plugins.browser.site.page_parts", lambda player, game: PageParts(b"", {}, b"", facts, ""))
    site = tmp_path / "site"
    assert run(["--site", str(site), "--games", *named]) == 0
    assert f"{site}: {held}, " in capsys.readouterr().out
    assert len(list(site.glob("*.html"))) == int(held[0]) + 1, "and the start page"


@pytest.fixture
def umask():
    """Set a umask that is not the usual one for one test."""
    before = os.umask(0o027)
    yield
    os.umask(before)


def test_others_read_what_is_written_as_the_umask_says(tmp_path, monkeypatch, umask):
    facts = facts_of(games.make("tictactoe"), {"player": {"name": "shipped"}, "levels": []})
    for module in ("site", "player"):
        parts = PageParts(b"", {}, b"", facts, "")
        monkeypatch.setattr(f"plugins.browser.{module}.page_parts", lambda player, game, parts=parts: parts)
    run(["-o", str(tmp_path / "page.html")])
    write_site(tmp_path / "site", ["tictactoe"], "shipped", say=print)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 8 and {path.stat().st_mode & 0o777 for path in files} == {0o640}


def test_a_game_in_plain_python_is_refused(tmp_path):
    from interface.commands.new_game import write_template

    path, kind = write_template("some_game", tmp_path)
    game = games.make(f"{path}:{kind}")
    with pytest.raises(UserError, match="export-page needs compiled rules .*, this game is in plain Python"):
        make_engine(game, None, None)


def test_a_network_that_there_is_not_is_refused(tmp_path):
    with pytest.raises(UserError, match="expected run0007"):
        page_parts("run0007:best", games.make("connect4"), tmp_path)


@pytest.mark.parametrize("name", games.names())
def test_the_board_of_every_game_is_in_its_planes(name):
    board = board_of(games.make(name))
    assert board.stones[:2] == (0, 1)
    assert board.forbidden == (name in ("go", "littlego"))


def test_renju_shows_forbidden_points():
    assert board_of(games.make("gomoku(rule=renju)")).forbidden


def test_a_site_has_each_board_once():
    found = shipped_games()
    assert len(found) == len(set(found)) and not any(".." in spec for spec in found)
    names = {spec.split("(")[0] for spec in found}
    assert names == {"connect4", "go", "gomoku", "hex", "littlego", "othello", "tictactoe"}
