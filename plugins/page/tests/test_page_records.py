"""What the page's table does with records from elsewhere: stones set up, moves after two passes, a stated result."""

import pytest

import games
from config import UserError
from games.line_of_moves import starting_at
from players.simple import RandomPlayer
from plugins.page.tab_address import kept
from plugins.page.table import Table
from storage.game_files import from_bytes, to_bytes
from support.sgf_files import COUNTED, HANDICAP, RESUMED

pytest.importorskip("sgfmill.sgf", reason="sgfmill reads SGF")


def loaded(text):
    table = Table("connect4")
    table.load(from_bytes(text.encode(), ".sgf"))
    table.go(len(table.moves))
    return table


def test_the_table_shows_stones_set_up_and_a_new_game_begins_without_them():
    table = loaded(HANDICAP)
    assert table.states[0].playerTurn == -1 and len(table.states) == 4
    assert kept(table)["moves"] == "", "an address holds moves only"
    assert RandomPlayer(starting_at(games.make("go"), table.states[0])).game.set_up_from is not None
    table.play(0)
    assert from_bytes(to_bytes(table.record(), ".json"), ".json").game.set_up_from is not None
    table.new()
    assert table.game.set_up_from is None and table.states[0].playerTurn == 1


def test_the_table_shows_the_files_result_until_a_move_is_changed():
    table = loaded(COUNTED.replace("W+3.5", "B+20"))
    assert table.result == 1 and table.status == "Black wins. So says the file."
    assert table.record().stated["result"] == "B+20"
    table.go(2)
    table.play(10)
    assert table.result is None
    assert loaded(COUNTED).status == "White wins."
    assert loaded(COUNTED.replace("W+3.5", "Void")).status == "No result. So says the file."


def test_the_table_goes_through_moves_after_two_passes():
    table = loaded(RESUMED)
    assert len(table.states) == 6 and table.status == "White wins. So says the file."
    text = table.text
    table.load_text(text)
    assert table.moves == [12, 25, 25, 6, 11] and table.result is None


def test_a_wrong_move_of_a_line_is_named_and_the_table_unchanged():
    table = Table("gomoku")
    with pytest.raises(UserError, match="move 3: illegal move a9"):
        table.load_text("a9 b9 a9")
    assert table.moves == []
