"""The rules of gomoku against closed counts, OpenSpiel and the package renju; the faults of renju drawn by hand."""

from collections import Counter
from math import comb, perm

import numpy as np
import pytest

import games
from config import UserError
from evaluation.game_contract import check
from game import PLY
from games import renju as forbidden
from support.board_drawings import play
from support.gomoku_boards import position
from support.perft import positions, sequences

# ---- counts


def test_three_in_a_row_on_3x3_has_the_games_and_positions_of_tictactoe():
    game = games.make("gomoku(size=3,n=3)")
    assert sequences(game, 9)[1] == [131184, 46080, 77904]
    assert sum(boards for boards, _ in positions(game, 9)) == 5478


@pytest.mark.parametrize("rule", ["freestyle", "exact"])
def test_wins_at_the_fifth_ply_are_the_lines_of_three_with_the_orders_of_play(rule):
    game = games.make(f"gomoku(size=4,n=3,rule={rule})")
    lines = 4 * 2 + 4 * 2 + 2 * 4
    assert sequences(game, 5) == (perm(16, 5), [lines * 6 * 13 * 12, 0, 0])


@pytest.mark.parametrize("spec", ["gomoku(size=5)", "gomoku(size=5,rule=renju)", "gomoku(size=5,rule=exact)"])
def test_positions_before_a_line_are_choices_of_points_with_a_key_for_each_and_its_last_stone(spec):
    """Any stone of the colour that has just moved can be the last."""
    boards = [comb(25, (k + 1) // 2) * comb(25 - (k + 1) // 2, k // 2) for k in range(5)]
    known = [n * max((k + 1) // 2, 1) for k, n in enumerate(boards)]
    assert [keys for _, keys in positions(games.make(spec), 4)] == known


# ---- other implementations


def pick(rng, state, legal, size, eagerness):
    """Return a legal action, often one beside a stone of the player to move."""
    if rng.random() < eagerness:
        legal = np.array(legal)
        own = state.planes()[:, :, 0]
        wide = np.pad(own, 1)
        beside = sum(wide[i : i + size, j : j + size] for i in range(3) for j in range(3)).ravel()[legal] > 0
        legal = legal[beside] if beside.any() else legal
    return int(legal[rng.integers(len(legal))])


@pytest.mark.parametrize(
    "spec, other, count, eagerness",
    [
        ("gomoku", "gomoku(size=9)", 1000, 0.0),
        ("gomoku", "gomoku(size=9)", 200, 0.9),
        ("gomoku(size=15)", "gomoku(size=15)", 60, 0.0),
        ("gomoku(size=15)", "gomoku(size=15)", 250, 0.9),
        ("gomoku(size=22)", "gomoku(size=22)", 12, 0.0),
        ("gomoku(size=22)", "gomoku(size=22)", 60, 0.9),
        ("gomoku(size=7,n=4)", "mnk(m=7,n=7,k=4)", 150, 0.5),
        ("gomoku(size=5,n=3)", "mnk(m=5,n=5,k=3)", 150, 0.0),
        ("gomoku(size=6,n=6)", "mnk(m=6,n=6,k=6)", 150, 0.9),
    ],
)
def test_random_freestyle_games_go_as_in_openspiel(spec, other, count, eagerness):
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    game, spiel = games.make(spec), pyspiel.load_game(other)
    rng = np.random.default_rng(1)
    for _ in range(count):
        state, twin = game.start(), spiel.new_initial_state()
        while not twin.is_terminal():
            legal = state.allowedActions
            assert legal == twin.legal_actions(), f"\n{state}"
            assert state.playerTurn == 1 - 2 * twin.current_player(), f"\n{state}"
            action = pick(rng, state, legal, game.grid_shape[0], eagerness)
            state, value, done = state.takeAction(action)
            twin.apply_action(action)
            assert done == twin.is_terminal(), f"\n{state}"
            assert value * state.playerTurn == twin.returns()[0], f"\n{state}"
        assert (state.isEndGame, state.allowedActions) == (True, [])


@pytest.mark.parametrize(
    "rule, size, count",
    [
        ("freestyle", 9, 60),
        ("exact", 9, 120),
        ("exact", 15, 40),
        ("renju", 9, 60),
        ("renju", 15, 20),
        ("freestyle", 22, 15),
        ("exact", 22, 15),
        ("renju", 22, 6),
    ],
)
def test_games_with_many_lines_end_as_in_the_package_renju(rule, size, count):
    renju = pytest.importorskip("renju", reason="renju is not installed")
    game, ends = games.make(f"gomoku(size={size},rule={rule})"), Counter()
    rng = np.random.default_rng(2)
    for _ in range(count):
        state, twin = game.start(), renju.RenjuBoard(board_size=size, rule="standard" if rule == "exact" else rule)
        while not state.isEndGame:
            action = pick(rng, state, state.allowedActions, size, 0.95)
            state, value, done = state.takeAction(action)
            status, _ = twin.play_move(*divmod(action, size))
            if rule == "renju" and done and value == 0 and state.row[PLY] < size * size:
                break  # the package knows no such end
            result = [(False, 0), (True, 1), (True, -1), (True, 0)][status]
            assert (done, value * state.playerTurn) == result, f"\n{state}"
        ends[value * state.playerTurn] += 1
    assert ends[1] > 0 and ends[-1] > 0, ends


UNREAL = "a double-three but for a stone that is forbidden or makes five"


def at_first_sight(row, point, size):
    """Return the fault of a black stone when the stones that its threes need are not asked about."""
    r, c = divmod(point, size)
    forbidden.flip(row, r, c)
    found = forbidden.shape(row, r, c)
    forbidden.flip(row, r, c)
    return int(found)


@pytest.mark.parametrize("size, count", [(9, 400), (15, 150), (22, 80)])
def test_forbidden_points_are_those_of_the_package_renju(size, count):
    """Its definitions are the official ones: five first, a three needs an allowed stone that makes no five."""
    foul = pytest.importorskip("renju.check_forbid", reason="renju is not installed").get_foul_type
    rng, compared = np.random.default_rng(3), Counter()
    for _ in range(count):
        cells = rng.choice([1, -1, 0], (size, size), p=[0.22, 0.1, 0.68])
        state = position("renju", cells, last=int(rng.choice(np.flatnonzero(cells == 0))))
        if state.isEndGame:
            continue
        after = state.planes()[:, :, 0].astype(int) + 2 * state.planes()[:, :, 1]
        free, legal = np.flatnonzero(after.ravel() == 0), set(state.allowedActions)
        row = state.row.copy()
        kinds = {int(p): int(forbidden.verdict(row, p // size, p % size)) for p in free}
        assert (row == state.row).all(), "a question leaves the position as it was"
        kinds |= {p: UNREAL for p in kinds if kinds[p] == 0 and at_first_sight(row, p, size) != 0}
        asked = {int(p) for p in rng.choice(free, 2)}
        for kind in (1, 2, 3, 4, UNREAL):
            asked |= set([p for p in kinds if kinds[p] == kind][:2])
        for p in asked:
            r, c = divmod(p, size)
            kind = kinds[p] if kinds[p] in (1, 2, 3) else 0
            assert (kind, p in legal) == (foul(after.tolist(), r, c), kind == 0), f"{state.game.move_name(p)}\n{state}"
            compared[kinds[p]] += 1
    assert len(compared) == 6 and min(compared.values()) >= 20, compared


# ---- lines and ends


@pytest.mark.parametrize("rule, wins", [("freestyle", True), ("exact", False)])
def test_six_in_a_row_wins_in_freestyle_only(rule, wins):
    state = play(games.make(f"gomoku(rule={rule})"), "a1 a9 b1 b9 c1 c9 e1 e9 f1 f9 d1")
    assert (state.isEndGame, state.value) == (wins, -1.0 if wins else 0.0)
    if not wins:
        assert play(state.game, "a1 a9 b1 b9 c1 c9 e1 e9 f1 f9 d1 d9").isEndGame is False


@pytest.mark.parametrize("rule", ["freestyle", "exact", "renju"])
def test_a_line_at_each_edge_of_the_largest_board_wins(rule):
    """The last column's bit is the highest that a line has."""
    game = games.make(f"gomoku(size=22,rule={rule})")
    five = np.arange(5)
    for points in (17 + five, 22 * five + 21, 22 * (17 + five) + 21, 22 * 21 + 17 + five, 22 * five + 21 - five,
                   22 * (17 + five) + 17 + five, 22 * (17 + five) + five):  # fmt: skip
        others = range(9 * 22, 9 * 22 + 8, 2)
        moves = [int(m) for pair in zip(points, [*others, 0], strict=True) for m in pair][:-1]
        state = game.start()
        for move in moves[:-1]:
            state = state.takeAction(move)[0]
        state = state.takeAction(moves[-1])[0]
        assert state.isEndGame and state.value == -1.0, f"\n{state}"


def test_a_line_does_not_go_round_the_edge():
    state = play(games.make("gomoku(size=5)"), "b3 a1 c3 a5 d3 c1 e3 c5 a2")
    assert not state.isEndGame
    assert state.takeAction(state.game.parse_move("e1"))[0].takeAction(state.game.parse_move("a3"))[1:] == (-1.0, True)


@pytest.mark.parametrize("rule", ["freestyle", "exact"])
def test_a_full_board_without_a_line_is_a_draw(rule):
    state = play(games.make(f"gomoku(size=3,n=3,rule={rule})"), "a3 b3 c3 b2 a2 c2 b1 a1 c1")
    assert (state.value, state.isEndGame, state.score) == (0.0, True, (0.0, 0.0))


@pytest.mark.parametrize(
    "spec", ["gomoku(size=3,n=3)", "gomoku(size=5,n=3,rule=exact)", "gomoku(size=7,rule=renju)", "gomoku(size=12)"]
)
def test_the_contract_of_a_game_is_kept(spec):
    assert check(games.make(spec), games=2) == []


def test_key_and_planes_depend_on_the_stones_and_the_last_of_them():
    game = games.make("gomoku")
    one, two, other = (play(game, moves) for moves in ("e5 d4 c3 b2", "c3 d4 e5 b2", "e5 b2 c3 d4"))
    assert one.id == two.id and (one.planes() == two.planes()).all()
    assert one.id != other.id and (one.planes() != other.planes()).any()


def test_planes_are_own_stones_other_stones_the_last_whether_black_is_to_move_and_ones():
    state = play(games.make("gomoku(size=3,n=3)"), "a3 b2 c1")
    own, other, last, black, ones = state.planes().transpose(2, 0, 1).tolist()
    assert own == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert other == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert last == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert (black, ones) == ([[0] * 3] * 3, [[1] * 3] * 3)
    assert play(games.make("gomoku(size=3,n=3)"), "a3 b2").planes()[:, :, 3].all()
    assert not games.make("gomoku").start().planes()[:, :, 2].any()


# ---- what people type and see


def test_points_are_named_by_letter_with_the_i_and_row_from_below():
    game = games.make("gomoku(size=15)")
    assert game.parse_moves("a15, O1 i8 H8") == [0, 224, 7 * 15 + 8, 7 * 15 + 7]
    assert all(game.parse_move(game.move_name(a)) == a for a in range(225))


@pytest.mark.parametrize("text", ["", "a", "a0", "a10", "j1", "9a", "a01", "aa1", "a-1", "a１", "ı1", "a" * 10_000])
def test_what_is_no_point_is_refused_with_an_example(text):
    with pytest.raises(UserError, match=r"expected a move such as 'a9', got '") as error:
        games.make("gomoku").parse_move(text)
    assert len(str(error.value)) < 100


@pytest.mark.parametrize("spec", ["gomoku", "gomoku(size=15)", "gomoku(n=4,rule=exact,size=8)", "gomoku(rule=renju)"])
def test_the_spec_makes_the_game_again(spec):
    game = games.make(spec)
    assert game.spec == spec
    assert games.make(game.spec).start().id == game.start().id


@pytest.mark.parametrize(
    "spec, message",
    [
        ("gomoku(size=23)", "gomoku: expected size from 3 to 22, got 23"),
        ("gomoku(size=4)", "gomoku: expected n up to size, got size=4, n=5"),
        ("gomoku(n=1)", "gomoku: expected n from 2 to 22, got 1"),
        ("gomoku(rule=pente)", "gomoku: expected rule out of freestyle, exact, renju, got 'pente'"),
        ("gomoku(rule=renju,n=4)", "gomoku: expected n=5 with rule=renju, got n=4"),
    ],
)
def test_a_wrong_parameter_is_refused_with_what_there_is(spec, message):
    with pytest.raises(UserError) as error:
        games.make(spec)
    assert str(error.value) == message
