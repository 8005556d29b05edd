"""A game at the table of the page, without a browser: moves, redo, seats, values, text and files."""

from types import SimpleNamespace

import numpy as np
import pytest

import games
from config import UserError
from languages.translate import chosen
from plugins.engines.position import set_up
from plugins.page.play_tab import Play
from plugins.page.players_strip import points
from plugins.page.result_panel import how
from plugins.page.seats import Seats
from plugins.page.share import link
from plugins.page.table import Table
from plugins.page.toolbar import words_of_other
from storage.game_files import PERSON, Record, from_bytes, to_bytes


def played(spec="connect4", moves="", **seats):
    table = Table(spec)
    table.seats = {1: seats.get("first", PERSON), -1: seats.get("second", PERSON)}
    table.load_text(moves)
    return table


def test_a_move_after_going_back_drops_what_came_later():
    table = played(moves="4433")
    table.values = dict.fromkeys(range(5), 0.5)
    table.go(2)
    assert table.looking_back and table.moves == [3, 3, 2, 2]
    table.play(6)
    assert table.moves == [3, 3, 6] and table.ply == 3 and not table.looking_back
    assert sorted(table.values) == [0, 1, 2], "values of positions that are gone go with them"
    assert len(table.states) == 4


def test_a_game_left_for_a_try_is_found_again_as_it_was():
    table = played(moves="4433")
    table.keep({1: 0.5, 4: -0.5})
    table.resign(1)
    table.go(1)
    table.play(6, trying=True)
    table.note(2, 0.25, 1)
    table.go(0)
    table.play(5, trying=True)
    assert table.moves == [5] and table.result is None and table.values == {}
    table.back()
    assert (table.ply, table.moves, table.resigned) == (1, [3, 3, 2, 2], 1) and len(table.states) == 5
    assert table.values == {1: 0.5, 4: -0.5}
    table.note(4, 1.0, 1)
    assert table.values[4] == -0.5, "what came with the game stays"
    assert table.left is None
    table.back()
    assert table.ply == 1


@pytest.mark.parametrize("begin", [lambda t: t.new(), lambda t: t.load_text("4"), lambda t: t.change_game("tictactoe")])
def test_another_game_leads_back_to_none(begin):
    table = played(moves="4433")
    table.go(1)
    table.play(6, trying=True)
    begin(table)
    assert table.left is None


def test_undo_goes_to_the_last_position_where_a_person_was_to_move():
    table = played(moves="4433", second="random")
    assert table.undo() and table.ply == 2
    assert table.undo() and table.ply == 0
    assert not table.undo()
    assert table.redo() and table.ply == 2
    second = played(moves="443", first="random")
    assert second.undo() and second.ply == 1, "who sits second takes back the second's move"
    assert not second.undo()
    both = played(moves="443")
    assert both.undo() and both.ply == 2


def test_a_machine_plays_only_at_the_end_of_an_open_game_that_is_not_stopped():
    table = played(moves="4", second="random")
    assert table.machine_to_move
    table.paused = True
    assert not table.machine_to_move
    table.paused = False
    table.go(0)
    assert not table.machine_to_move
    table.go(1)
    table.resign(1)
    assert not table.machine_to_move
    assert not played(moves="4141414", second="random").machine_to_move, "the game is over"
    assert not played(moves="44", second="random").machine_to_move, "a person is to move"


@pytest.mark.parametrize("side, result, words", [(1, -1.0, "Yellow wins."), (-1, 1.0, "Red wins.")])
def test_who_resigns_loses(side, result, words):
    table = played(moves="4")
    table.resign(side)
    assert table.result == result and table.status.startswith(words) and table.over
    with pytest.raises(UserError, match="over"):
        table.play(0)
    table.go(0)
    table.play(3)
    assert table.result is None, "playing on from an earlier position takes it back"


def test_the_few_legal_moves_are_listed_after_an_illegal_one_in_the_language_of_the_tab():
    table = played("gomoku(size=15)", "h8")
    with pytest.raises(UserError, match=r"\Aillegal move h8\Z"):
        table.play(table.moves[0])
    token = chosen.set("zh")
    try:
        with pytest.raises(UserError, match="不能下在 h8"):
            table.play(table.moves[0])
        table.resign(1)
        with pytest.raises(UserError, match="对局已结束"):
            table.play(0)
    finally:
        chosen.reset(token)


def test_who_passed_is_said_and_no_move_to_a_point():
    table = played("go", "c3 pass")
    assert words_of_other(table) == "White: pass"
    table.go(1)
    assert words_of_other(table) == ""
    assert words_of_other(played("connect4", "4")) == ""


def test_an_illegal_move_changes_nothing_and_says_why():
    table = played(moves="111111")
    with pytest.raises(UserError, match=r"illegal move 1 \(legal: 2 3 4 5 6 7\)\Z"):
        table.play(0)
    assert len(table.moves) == 6
    with pytest.raises(UserError, match="move 7: illegal move 1"):
        table.load_text("1111111")
    with pytest.raises(UserError):
        table.load_text("x" * 30_000)
    assert len(table.moves) == 6


def test_values_are_kept_for_who_began():
    table = played(moves="44")
    table.note(2, 0.5, 1)
    table.note(1, 0.25, -1)
    assert table.values == {2: 0.5, 1: -0.25} and table.evaluation() == 0.5
    won = played(moves="4141414")
    assert won.evaluation() == 1.0
    won.go(3)
    assert won.evaluation() is None


def test_values_that_came_with_a_game_are_not_replaced_by_later_searches():
    table = Table("tictactoe")
    table.load(Record(games.make("tictactoe"), [4, 0, 8], None))
    table.keep({0: 0.1, 1: 0.2})
    for ply in range(4):
        table.note(ply, 0.9, 1)
    assert table.values == {0: 0.1, 1: 0.2, 2: 0.9, 3: 0.9}
    table.go(1)
    table.play(1)
    table.note(1, 0.9, 1)
    table.note(2, 0.8, 1)
    assert table.values == {0: 0.1, 1: 0.2, 2: 0.8}, "a value of before the new move is the game's still"
    table.new()
    table.note(0, 0.5, 1)
    assert table.values == {0: 0.5}


def test_swapping_sides_swaps_levels_too():
    table = played(second="random")
    table.levels = {1: "25", -1: "3s"}
    table.swap()
    assert table.seats == {1: "random", -1: PERSON} and table.levels == {1: "3s", -1: "25"}
    assert table.machine_to_move


@pytest.mark.parametrize("spec, moves", [("connect4", "4433"), ("othello", "f5d6c3"), ("gomoku", "e5 d4")])
def test_a_game_goes_through_text_and_files(spec, moves):
    table = played(spec, moves)
    again = played(spec, table.text)
    assert again.moves == table.moves
    for form in (".json", ".txt"):
        record = from_bytes(to_bytes(table.record(), form), form, games.make(spec))
        other = Table("tictactoe")
        other.load(record)
        assert other.moves == table.moves and other.game.spec == spec and other.ply == 0


def test_a_game_given_up_in_a_file_stays_given_up():
    table = Table("connect4")
    table.load(Record(games.make("connect4"), [3], 1.0, ("a", "b")))
    table.go(1)
    assert table.over and table.result == 1.0 and table.status == "Red wins. So says the file."


def test_a_game_of_others_keeps_its_players_and_its_date_until_a_move_is_made():
    found = Record(games.make("connect4"), [3, 3], 0.0, ("Ada", "Bob"), "1999-12-31")
    table = Table("connect4")
    table.seats[-1] = "greedy"
    table.load(found)
    table.go(1)
    assert table.record() == found
    table.play(0)
    saved = table.record()
    assert saved.moves == [3, 0] and saved.players == (PERSON, "greedy")
    assert saved.date > "2020" and saved.result is None
    table.load(found._replace(result=None))
    table.resign(1)
    assert table.record().players == (PERSON, "greedy") and table.record().result == -1.0
    table.load(found)
    table.new()
    assert table.record().players == (PERSON, "greedy") and table.record().moves == []


@pytest.mark.parametrize(
    "seat, level, known", [("rollout", "25", "rollout:25"), ("rollout", "3s", "rollout:3s"), ("uct", "400", "uct:400"),
                           ("shipped/run0001:best", "400", "shipped:best"), ("run0002:version0003", "25", None),
                           ("run0002:version0003", "3s", "run0002:version0003:3s"), ("random", "3s", None),
                           ("shipped/run0001:best", "1s", "shipped:best:1s")],
)  # fmt: skip
def test_a_file_names_players_as_the_command_line_does(seat, level, known):
    table = played()
    table.seats[-1], table.levels[-1] = seat, level
    assert table.record().players == (PERSON, known or seat)


def test_sides_are_called_by_their_colours():
    assert played().status == "Red to move"
    assert played("gomoku", "e5").status == "White to move"
    assert played("tictactoe").status == "X to move"
    assert played(moves="4", second="random").status == "Yellow (random) to move"
    assert played(moves="4141414").status == "Red wins."


def test_a_machine_goes_on_only_where_it_is_to_move():
    table = played(moves="4433", second="random")
    assert not table.machine_waits and not table.machine_to_move, "a person is to move"
    table.go(2)
    assert not table.machine_waits, "looking back from a person's turn to a person's"
    table.go(3)
    assert table.machine_waits and not table.machine_to_move
    table = played(moves="443", second="random")
    assert table.machine_to_move and not table.machine_waits
    table.paused = True
    assert table.machine_waits
    table.resign(1)
    assert not table.machine_waits


def test_a_loss_on_time_is_saved_as_one_and_a_loaded_game_ends_as_its_file_says():
    for side, winner in ((-1, "B"), (1, "W")):
        table = played("gomoku", "e5 d4")
        table.resign(side, late=True)
        assert how(table) == f"{table.side_name(side)} has no time left."
        for form in (".json", ".sgf"):
            file = to_bytes(table.record(), form)
            assert b"%s+T" % winner.encode() in file
            again = Table("gomoku")
            again.load(from_bytes(file, form))
            assert again.result == -side and how(again) == "So says the file."
    table = played("gomoku", "e5 d4")
    table.resign(-1)
    assert b"B+R" in to_bytes(table.record(), ".sgf") and how(table) == "White resigned."


def test_a_link_holds_moves_and_none_is_made_of_stones_set_up():
    table = played("gomoku", "e5 d4")
    assert link(table, "play") == {"game": "gomoku", "moves": "e5 d4", "mode": "play"}
    board = np.zeros((9, 9), np.int8)
    board[4, 4] = 1
    table.load(Record(set_up(games.make("gomoku"), board, -1), []))
    assert link(table, "analyse") == {}


@pytest.mark.parametrize("over, helped, then", [(False, False, True), (False, True, True), (True, True, False)])
def test_another_opponent_is_help_within_a_game_and_none_in_the_next(over, helped, then):
    table = played("connect4", "44")
    if over:
        table.resign(1)
    opponents = SimpleNamespace(helped=helped, fits=True)
    play = SimpleNamespace(table=table, opponents=opponents, keep_seated=lambda: None, changed=lambda: None)
    seats = Seats.__new__(Seats)
    seats._play = play
    seats._seated()
    assert opponents.helped == then


def test_a_click_plays_nothing_while_another_game_is_prepared():
    played, table = [], Table("tictactoe")
    tab = SimpleNamespace(table=table, teacher=None, play=played.append, chosen_game=lambda: "gomoku")
    Play.click(tab, 4)
    assert played == []
    tab.chosen_game = lambda: "tictactoe"
    Play.click(tab, 4)
    assert played == [4]


@pytest.mark.parametrize("mode, first, said, helped", [
    ("play", "random", ["It is the machine's turn: wait, or stop it."], False), ("play", PERSON, [], True),
    ("analyse", "random", [], True),
])  # fmt: skip
def test_a_hint_is_for_a_persons_turn(mode, first, said, helped):
    table, heard, hints = Table("tictactoe"), [], []
    table.seats[1] = first
    tab = SimpleNamespace(table=table, mode=mode, tell=heard.append, opponents=SimpleNamespace(helped=False),
                          inside=SimpleNamespace(hint=lambda: hints.append(1)))  # fmt: skip
    Play.hint(tab)
    assert (heard, tab.opponents.helped, bool(hints)) == (said, helped, helped)


@pytest.mark.parametrize("spec, moves, found", [
    ("othello", [], {1: 2, -1: 2}), ("othello", ["d3"], {1: 4, -1: 1}), ("othello", ["d3", "c3"], {1: 3, -1: 3}),
    ("metasquares(size=3)", ["a1", "c3"], {}), ("go", ["c3"], {}), ("littlego", ["c3"], {}), ("connect4", ["4"], {}),
    ("metasquares(size=3)", ["a1", "c3", "a2", "c2", "b1", "c1", "b2"], {1: 1, -1: 0}),
])  # fmt: skip
def test_points_are_counted_in_play_where_the_game_counts_them(spec, moves, found):
    table = Table(spec)
    for move in moves:
        table.play(table.game.parse_move(move))
    assert points(table) == found


def test_a_click_on_a_board_whose_undo_is_not_drawn_yet_is_played_after_it_and_one_on_any_other_old_board_is_not():
    played, table = [], Table("tictactoe")
    table.seats[-1] = PERSON
    tab = Play.__new__(Play)
    tab.table, tab._undone, tab.teacher = table, ("", set()), None
    tab.opponents, tab.tell, tab.changed = SimpleNamespace(helped=False), lambda words: None, lambda: None
    tab.chosen_game, tab.play = lambda: "tictactoe", played.append
    at = [table.at]
    for move in (0, 4, 8):
        table.play(move)
        at.append(table.at)
    tab.click(1, at[1])
    assert played == [], "the board has changed in another way"
    tab.undo()
    tab.undo()
    for shown in (at[3], at[2], at[1]):
        tab.click(5, shown)
    assert played == [5, 5, 5], "one press, none or both are drawn"
    tab.click(5, at[0])
    table.play(5)
    tab.click(6, at[3])
    assert len(played) == 3
