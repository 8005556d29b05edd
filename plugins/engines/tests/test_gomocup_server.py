"""The Gomocup protocol from a manager's side: games, boards, limits, swap2, refusals."""

import re

import pytest
from engine_talk import Live, gomocup_server, told_gomocup

import games
from config import UserError
from games.line_of_moves import after_moves
from plugins.engines.gomocup_session import LEAST_ROOM, Session
from plugins.engines.serving import PlayerSource
from plugins.engines.thinking import ROOM

POINT = re.compile("[0-9]+,[0-9]+")


class Manager:
    """What a session says aside, and when it is to stop."""

    def __init__(self):
        self.said = []

    def say(self, text):
        self.said.append(text)

    def stopped(self):
        return False


@pytest.fixture
def session():
    return Session(PlayerSource("random", sims=8), games.make("gomoku"), Manager())


def test_a_game_from_the_manual_is_played():
    answers = told_gomocup("ABOUT", "START 9", "INFO timeout_turn 1000", "BEGIN", "RESTART", "TURN 4,4", "end", "ABOUT")
    assert answers[0].startswith('name="alphazero-keras", version="') and answers[1] == answers[3] == "OK"
    assert POINT.fullmatch(answers[2]) and POINT.fullmatch(answers[4]) and answers[4] != "4,4" and len(answers) == 5


@pytest.mark.parametrize(
    "lines, answer",
    [
        (["TURN 4,4"], "ERROR expected START first"),
        (["BOARD", "DONE"], "ERROR expected START first"),
        (["START"], "ERROR expected a size"),
        (["START 99"], "ERROR unsupported size: gomoku: expected size"),
        (["START 2"], "ERROR unsupported size"),
        (["RECTSTART 9,8"], "ERROR unsupported size: the board must be square"),
        (["START 9", "TURN 9,9"], "ERROR expected x,y from 0,0 to 8,8, got '9,9'"),
        (["START 9", "TURN -1,2"], "ERROR expected x,y"),
        (["START 9", "TURN"], "ERROR expected x,y"),
        (["START 9", "PLAY 1,1", "TURN 1,1"], "ERROR illegal move 1,1"),
        (["START 9", "PLAY 1,1", "BEGIN"], "ERROR expected an empty board"),
        (["START 9", "PLAY 1,1", "PLAY 2,2"], "ERROR expected a move of the other"),
        (["START 9", "TAKEBACK 1,1"], "ERROR expected a stone on 1,1"),
        (["START 9", "BOARD", "1,1,3", "DONE"], "ERROR line 1: expected x,y,1"),
        (["START 9", "BOARD", "1,1,1", "2,2,2", "3,3,3", "DONE"], "ERROR line 3: expected x,y,1 for an own stone or "
         "x,y,2 for one of the other, got '3,3,3': a game that goes on after five is not played"),
        (["INFO rule 4", "START 9", "BOARD", "1,1,2", "9,9,3", "DONE"], "ERROR expected x,y from 0,0 to 8,8"),
        (["START 15 20"], "ERROR unsupported size: the board must be square"),
        (["START 15 15 15"], "ERROR expected a size"),
        (["YXBOARD", "DONE"], "ERROR expected START first"),
        (["START 9", "YXBOARD", "1,1,1", "1,1,2", "DONE"], "ERROR expected each point once"),
        (["START 9", "YXSHOWFORBID"], "ERROR expected the renju rule"),
        (["YXSEARCHDEFEND"], "UNKNOWN command YXSEARCHDEFEND"),
        (["START 9", "BOARD", "1,1,1", "1,1,2", "DONE"], "ERROR expected each point once"),
        (["START 9", "BOARD", "1,1,1", "2,2,1", "DONE"], "ERROR expected as many stones of both"),
        (["INFO rule 4", "START 15", "BOARD", "1,1,2", "2,2,1", "DONE"], "ERROR expected a move of the other's"),
        (["START 9", "SWAP2BOARD", "1,1", "DONE"], "ERROR expected 0, 3 or 5 stones"),
        (["SUGGEST 1,1"], "UNKNOWN command SUGGEST"),
        (["\u00e4\u00f6 x"], "UNKNOWN command ??"),
        (["y" * 20_000], "ERROR expected a line of at most 10000 bytes"),
    ],
)
def test_what_cannot_be_done_is_answered_by_error_or_unknown(lines, answer):
    assert told_gomocup(*lines)[-1].startswith(answer)


def test_what_is_refused_leaves_the_board_as_it_was(session):
    session.run("START", "9")
    session.run("TURN", "4,4")
    stones = list(session.stones)
    for command, words in [("TURN", "4,4"), ("TURN", "x"), ("PLAY", "1,1"), ("BEGIN", ""), ("START", "100")]:
        with pytest.raises(UserError):
            session.run(command, words)
        assert session.stones == stones and session.game.spec == "gomoku"
    for lines in (["0,0,1", "1,1,1"], ["4,4,2"] * 2, ["x"]):
        with pytest.raises(UserError):
            session.take_list("BOARD", lines)
        assert session.stones == stones
    assert POINT.fullmatch(session.run("TURN", next(f"{x},0" for x in range(9) if (x, False) not in stones
                                                   and (x, True) not in stones)))  # fmt: skip


def test_a_board_in_its_order_is_a_line_of_moves_and_any_other_is_set_up(session):
    session.run("START", "9")
    session.take_list("BOARD", ["4,4,2", "5,5,1", "6,6,2"])
    assert session.position().moves[:3] == [4 * 9 + 4, 5 * 9 + 5, 6 * 9 + 6] and session.position().to_move == 1
    session.take_list("BOARD", ["4,4,2", "6,6,2", "5,5,1", "7,7,1"])
    assert session.position().game.set_up_from is not None and len(session.stones) == 5
    assert POINT.fullmatch(session.run("TURN", "0,0" if session.stones[-1][0] else "1,0"))
    session.run("RESTART", "")
    assert session.stones == []


def test_a_board_of_as_many_stones_is_ours_to_move_in_whatever_order_they_come(session):
    """The protocol has an order for renju only, so that the first line need not be the first move."""
    session.run("START", "9")
    assert POINT.fullmatch(session.take_list("BOARD", ["1,1,2", "2,2,1", "3,3,2", "4,4,1"]))
    assert session.stones[:4] == [(20, True), (10, False), (40, True), (30, False)]
    assert session.position().to_move == -1


def test_a_size_may_be_given_twice(session):
    for words in ("15 15", "15,15", "15, 15", "15"):
        assert session.run("START", words) == "OK" and session.game.grid_shape == (15, 15)


def test_points_that_renju_forbids_are_no_stones(session):
    """Black (the other) has two open twos that meet at 7,7: a double-three, which the manager may mark by a 3."""
    session.info("rule 4")
    session.run("START", "15")
    stones = ["7,8,1", "0,0,2", "7,9,1", "14,0,2", "8,7,1", "0,14,2", "9,7,1", "14,14,2"]
    assert session.take_list("YXBOARD", stones) == ""
    assert session.run("YXSHOWFORBID", "") == "FORBID 0707."
    with_mark = [*stones[:4], "7,7,3", *stones[4:]]
    assert POINT.fullmatch(move := session.take_list("BOARD", with_mark)) and move != "7,7"
    assert len(session.stones) == 9
    assert session.run("YXSHOWFORBID", "").startswith("FORBID ")


def test_yixins_board_sets_stones_and_asks_for_no_move():
    answers = told_gomocup("START 9", "YXBOARD", "4,4,1", "4,5,2", "DONE", "yxhashclear", "TURN 0,0", "PLAY 1,1",
                           "yxboard", "3,3,2", "DONE", "BEGIN", "YXBOARD", "DONE", "BEGIN")
    assert answers[0] == "OK" and answers[1].startswith("ERROR expected a move of ours")
    assert answers[2] == "1,1" and answers[3].startswith("ERROR expected an empty board") and len(answers) == 5
    assert POINT.fullmatch(answers[4])


def test_yixins_stop_ends_a_search_with_its_move_and_no_later_one():
    with Live(gomocup_server, player="rollout:1000s") as talk:
        talk.send("START 9")
        assert talk.line() == "OK"
        for command in ("TURN 4,4", "BOARD\n0,0,2\nDONE"):
            talk.send("YXSTOP")
            talk.send(command)
            talk.send("YXSTOP")
            assert POINT.fullmatch(talk.line())


def test_moves_are_taken_back_and_played_on(session):
    session.run("START", "9")
    session.run("TURN", "4,4")
    own = session.name(session.stones[1][0])
    assert session.run("TAKEBACK", own) == "OK" and session.run("TAKEBACK", "4,4") == "OK"
    assert session.stones == [] and POINT.fullmatch(session.run("BEGIN", ""))


def test_a_finished_game_has_no_more_moves(session):
    session.run("START", "9")
    lines = [line for x in range(4) for line in (f"{x},0,2", f"{x},1,1")]
    with pytest.raises(UserError, match="the game is over"):
        session.take_list("BOARD", [*lines, "4,0,2"])
    session.take_list("BOARD", [*lines[:-1]])
    assert len(session.stones) == 8


def test_the_rules_are_those_of_the_manager(session):
    session.run("START", "9")
    six = [line for i, x in enumerate((0, 1, 2, 4, 5)) for line in (f"{x},0,2", f"{x},{2 + 2 * (i % 2)},1")]
    session.info("rule 1")
    assert session.game.spec == "gomoku(rule=exact)"
    assert POINT.fullmatch(session.take_list("BOARD", [*six, "3,0,2"]))  # six in a row are nothing
    session.info("rule 0")
    with pytest.raises(UserError, match="the game is over"):
        session.take_list("BOARD", [*six, "3,0,2"])
    session.info("rule 4")
    assert session.game.spec == "gomoku(rule=renju)"
    with pytest.raises(UserError, match="illegal move"):
        session.take_list("BOARD", [*six, "3,0,2"])
    session.info("rule 8")
    assert session.game.spec == "gomoku(rule=renju)" and "rule 8 is not played" in session.manager.said[-1]


def test_info_sets_limits_and_nonsense_is_passed_over(session):
    for words in ("timeout_turn 500", "timeout_match 60000", "time_left 30000"):
        session.info(words)
    assert (session.turn, session.match) == (0.5, 30.0)
    for words in ("", "timeout_turn", "timeout_turn x", "folder /tmp", "unknown 3", "evaluate 3,3"):
        session.info(words)
    assert (session.turn, session.match) == (0.5, 30.0)
    session.info("timeout_match 0")
    assert session.match == float("inf")
    session.run("START", "9")
    session.info("max_memory 1000")
    assert session._room == LEAST_ROOM and "cannot be kept" in session.manager.said[-1]
    session.info("max_memory 0")
    assert session._room == ROOM


def test_each_game_has_the_time_of_a_whole_match(session):
    session.info("timeout_match 2000")
    session.run("START", "9")
    session.run("BEGIN", "")
    assert session.match < 2.0
    session.info("time_left 700")
    assert session.match == 0.7
    session.run("RESTART", "")
    assert session.match == 2.0
    session.info("time_left 300")
    session.run("START", "9")
    assert session.match == 2.0


def tree_bytes(session):
    """Return what a full tree may take: half as much again is address space."""
    tree = session.thinker.tree.forest
    return tree.edge_capacity * (tree.edges.itemsize + tree.moves.itemsize)


def test_a_network_keeps_the_limit_of_memory():
    session = Session(PlayerSource("shipped", sims=8), games.make("gomoku"), Manager())
    session.run("START", "9")
    session.info(f"max_memory {2**33}")  # of which this process has some
    session.info("timeout_turn 50")
    session.run("BEGIN", "")
    assert 0.9 * session._room < tree_bytes(session) <= session._room
    session.info("max_memory 1000000")
    session.run("RESTART", "")
    session.run("BEGIN", "")
    assert tree_bytes(session) < 2**27


def test_all_chance_follows_from_the_seed():
    lines = ["START 9", "SWAP2BOARD", "DONE", "BEGIN", "TURN 0,0", "TURN 8,8"]
    first, again, other = (told_gomocup(*lines, seed=seed) for seed in (0, 0, 1))
    assert first == again and first[1] != other[1] and first[2:] != other[2:]


def test_swap2_opens_in_balance_and_chooses_the_better_colour():
    session = Session(PlayerSource("shipped", sims=30), games.make("gomoku"), Manager())
    session.run("START", "9")
    opening = session.take_list("SWAP2BOARD", []).split()
    points = [session.point(word) for word in opening]
    assert len(set(points)) == 3 and not after_moves(session.game, points).isEndGame
    assert re.fullmatch("SWAP|[0-8],[0-8]", session.take_list("SWAP2BOARD", opening))
    three = ["3,4", "0,0", "4,4"]  # two black stones in the middle against one in a corner
    assert session.take_list("SWAP2BOARD", three) == "SWAP"
    lost = ["0,0", "4,4", "8,8", "4,5", "0,8"]  # White has two in the middle and is to move
    assert POINT.fullmatch(session.take_list("SWAP2BOARD", lost)) and session.stones == []


@pytest.mark.parametrize(
    "player, answer", [("rollout:2000", "SWAP"), ("alphabeta:2", "SWAP"), ("random", "[0-9]+,[0-9]+")]
)
def test_a_player_without_a_network_takes_the_other_colour_as_well(player, answer):
    session = Session(PlayerSource(player, sims=8), games.make("gomoku"), Manager())
    session.run("START", "15")
    session.info("timeout_turn 1000000")
    black_in_the_middle = ["7,7", "0,0", "8,7", "14,14", "8,8"]  # and White is to move
    assert re.fullmatch(answer, session.take_list("SWAP2BOARD", black_in_the_middle))


def test_end_stops_a_search_at_once():
    with Live(gomocup_server, player="shipped") as talk:
        talk.send("START 9")
        assert talk.line() == "OK"
        talk.send("INFO timeout_turn 1000000")
        talk.send("BEGIN")
        talk.send("END")
        while (line := talk.line()) is not None:
            assert POINT.fullmatch(line)


def test_a_game_that_is_not_gomoku_is_refused():
    with pytest.raises(UserError, match="expected a game of gomoku"):
        told_gomocup("START 9", game="tictactoe")
