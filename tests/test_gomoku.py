"""The rules of gomoku against closed counts, OpenSpiel and the package renju; the faults of renju drawn by hand."""

from collections import Counter
from math import comb, perm
from random import Random

import numpy as np
import pytest

import games
from config import UserError
from conformance import check
from game import PLAYER, PLY
from games import gomoku
from perft import positions, sequences
from renju_faults import FAULTS


def play(game, moves):
    state = game.start()
    for action in game.parse_moves(moves):
        state = state.takeAction(action)[0]
    return state


def drawn(text):
    """The lines of a drawing, blanks at the ends left out."""
    return [line.strip() for line in text.strip().splitlines()]


def position(rule, cells, last=None):
    """Return a position of [size, size] cells 1 / -1 / 0; a point given as `last` is then played by White."""
    size = len(cells)
    game = games.make(f"gomoku(size={size},rule={rule})")
    row = game.start_row.copy()
    for which, stones in enumerate((cells == 1, cells == -1, cells == 0)):
        game._lines(row, which)[:] = (stones << (gomoku.PAD + np.arange(size))).sum(axis=1)
    row[PLAYER], row[PLY] = (1 if last is None else -1), np.count_nonzero(cells)
    state = game.state_of(row)
    return state if last is None else state.takeAction(last)[0]


def board(text):
    """Read a drawing: X and O are stones, any other sign is a free point; return the cells and the points of signs."""
    lines = np.array([line.split() for line in text.strip().splitlines()])
    signs = {sign: np.flatnonzero(lines.ravel() == sign).tolist() for sign in np.unique(lines)}
    return (lines == "X").astype(int) - (lines == "O"), signs


# ---- counts


def test_three_in_a_row_on_3x3_has_the_games_and_positions_of_tictactoe():
    game = games.make("gomoku(size=3,n=3)")
    assert sequences(game, 9)[1] == [131184, 46080, 77904]
    found = positions(game, 9)
    assert sum(boards for boards, _ in found) == 5478
    assert all(boards == keys for boards, keys in found)


@pytest.mark.parametrize("rule", ["freestyle", "exact"])
def test_wins_at_the_fifth_ply_are_the_lines_of_three_with_the_orders_of_play(rule):
    game = games.make(f"gomoku(size=4,n=3,rule={rule})")
    lines = 4 * 2 + 4 * 2 + 2 * 4
    assert sequences(game, 5) == (perm(16, 5), [lines * 6 * 13 * 12, 0, 0])


@pytest.mark.parametrize("spec", ["gomoku(size=5)", "gomoku(size=5,rule=renju)", "gomoku(size=5,rule=exact)"])
def test_positions_before_a_line_are_choices_of_points_and_each_has_a_key(spec):
    known = [comb(25, (k + 1) // 2) * comb(25 - (k + 1) // 2, k // 2) for k in range(5)]
    assert [keys for _, keys in positions(games.make(spec), 4)] == known


# ---- other implementations


def pick(rng, legal, own, size, eagerness):
    """Return a legal action, often one beside a stone out of `own`."""
    for _ in range(6 if own and rng.random() < eagerness else 0):
        action = rng.choice(own) + rng.choice((1, size - 1, size, size + 1)) * rng.choice((1, -1))
        if action in legal:
            return action
    return rng.choice(legal)


@pytest.mark.parametrize(
    "spec, other, count, eagerness",
    [
        ("gomoku", "gomoku(size=9)", 500, 0.0),
        ("gomoku", "gomoku(size=9)", 500, 0.9),
        ("gomoku(size=15)", "gomoku(size=15)", 50, 0.0),
        ("gomoku(size=15)", "gomoku(size=15)", 250, 0.9),
        ("gomoku(size=7,n=4)", "mnk(m=7,n=7,k=4)", 80, 0.5),
        ("gomoku(size=5,n=3)", "mnk(m=5,n=5,k=3)", 150, 0.0),
        ("gomoku(size=6,n=6)", "mnk(m=6,n=6,k=6)", 50, 0.9),
    ],
)
def test_random_freestyle_games_go_as_in_openspiel(spec, other, count, eagerness):
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    game, spiel = games.make(spec), pyspiel.load_game(other)
    rng = Random(1)
    for _ in range(count):
        state, twin, stones = game.start(), spiel.new_initial_state(), {1: [], -1: []}
        while not twin.is_terminal():
            legal = state.allowedActions
            assert legal == twin.legal_actions(), f"\n{state}"
            assert state.playerTurn == 1 - 2 * twin.current_player(), f"\n{state}"
            own = stones[state.playerTurn]
            action = pick(rng, legal, own, game.grid_shape[0], eagerness)
            own.append(action)
            state, value, done = state.takeAction(action)
            twin.apply_action(action)
            assert done == twin.is_terminal(), f"\n{state}"
            assert value * state.playerTurn == twin.returns()[0], f"\n{state}"
        assert (state.isEndGame, state.allowedActions) == (True, [])


@pytest.mark.parametrize(
    "rule, size, count",
    [("freestyle", 9, 60), ("exact", 9, 80), ("exact", 15, 40), ("renju", 9, 60), ("renju", 15, 20)],
)
def test_games_with_many_lines_end_as_in_the_package_renju(rule, size, count):
    renju = pytest.importorskip("renju", reason="renju is not installed")
    game, ends = games.make(f"gomoku(size={size},rule={rule})"), Counter()
    rng = Random(2)
    for _ in range(count):
        state, twin = game.start(), renju.RenjuBoard(board_size=size, rule="standard" if rule == "exact" else rule)
        stones = {1: [], -1: []}
        while not state.isEndGame:
            own = stones[state.playerTurn]
            action = pick(rng, state.allowedActions, own, size, 0.95)
            own.append(action)
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
    gomoku.flip(row, r, c)
    found = gomoku.shape(row, r, c)
    gomoku.flip(row, r, c)
    return int(found)


@pytest.mark.parametrize("size, count", [(9, 400), (15, 150)])
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
        kinds = {int(p): int(gomoku.verdict(row, p // size, p % size)) for p in free}
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


# ---- the faults of renju, drawn: * is forbidden to Black, + is not


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("turn", range(4))
def test_faults_of_renju(name, turn):
    cells, signs = board(FAULTS[name])
    marks = np.zeros(cells.shape, int)
    for sign, value in ((".", 0), ("+", 1), ("*", 2)):
        marks.ravel()[signs.get(sign, [])] = value
    cells, marks = np.rot90(cells, turn), np.rot90(marks, turn).ravel()
    last = int(np.flatnonzero(cells == -1)[-1])
    before = cells.copy()
    before.ravel()[last] = 0
    state = position("renju", before, last)
    legal = np.isin(np.arange(marks.size), state.allowedActions)
    assert not legal[marks == 2].any() and legal[marks == 1].all() and (marks > 0).any(), f"\n{state}"


def test_white_may_do_what_black_may_not_and_wins_with_six():
    cells, signs = board(FAULTS["six in a row"])
    cells = -cells
    state = position("renju", cells, None)
    row = state.row
    row[PLAYER] = -1
    state = state.game.state_of(row)
    assert signs["*"][0] in state.allowedActions
    state, value, done = state.takeAction(signs["*"][0])
    assert (done, value, state.playerTurn) == (True, -1.0, 1)


def test_a_board_with_only_forbidden_points_left_to_black_is_a_draw():
    moves = """d5 g6 a5 b1 a4 c5 f1 e5 c1 f5 g1 f7 f6 a1 b4 a7 f2 f4 a3 e4 d2 b3 d3 c2 e6 b2 g7 g3 g5 a2 d6 c7 b6 e7 c3
        c6 g2 e1 d7 f3 g4 a6 e3 e2 d1 b7 c4 b5"""
    state = play(games.make("gomoku(size=7,rule=renju)"), moves)
    assert drawn(str(state)) == drawn("""
        7  O  O  O  X  O  O  X
        6  O  X  O  X  X  X  O
        5  X [O] O  X  O  O  X
        4  X  X  X  *  O  O  X
        3  X  O  X  X  X  O  O
        2  O  O  O  X  O  X  X
        1  O  O  X  X  O  X  X
           a  b  c  d  e  f  g""")
    assert (state.isEndGame, state.value, state.allowedActions) == (True, 0.0, [])


# ---- lines and ends


@pytest.mark.parametrize("rule, wins", [("freestyle", True), ("exact", False)])
def test_six_in_a_row_wins_in_freestyle_only(rule, wins):
    state = play(games.make(f"gomoku(rule={rule})"), "a1 a9 b1 b9 c1 c9 e1 e9 f1 f9 d1")
    assert (state.isEndGame, state.value) == (wins, -1.0 if wins else 0.0)
    if not wins:
        assert play(state.game, "a1 a9 b1 b9 c1 c9 e1 e9 f1 f9 d1 d9").isEndGame is False


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


def test_key_and_planes_depend_on_the_stones_and_not_on_their_order():
    game = games.make("gomoku")
    one, two = play(game, "e5 d4 c3 b2"), play(game, "c3 b2 e5 d4")
    assert one.id == two.id != play(game, "e5 d4 c3").id
    assert (one.planes() == two.planes()).all()


def test_planes_are_own_stones_other_stones_whether_black_is_to_move_and_ones():
    own, other, black, ones = play(games.make("gomoku(size=3,n=3)"), "a3 b2 c1").planes().transpose(2, 0, 1).tolist()
    assert own == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert other == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert (black, ones) == ([[0] * 3] * 3, [[1] * 3] * 3)
    assert play(games.make("gomoku(size=3,n=3)"), "a3 b2").planes()[:, :, 2].all()


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
        ("gomoku(size=20)", "gomoku: expected size 3 to 19 and n from 2 to size, got size=20, n=5"),
        ("gomoku(size=4)", "gomoku: expected size 3 to 19 and n from 2 to size, got size=4, n=5"),
        ("gomoku(n=1)", "gomoku: expected size 3 to 19 and n from 2 to size, got size=9, n=1"),
        ("gomoku(rule=pente)", "gomoku: expected a rule out of freestyle, exact, renju, got 'pente'"),
        ("gomoku(rule=renju,n=4)", "gomoku: expected n=5 with rule=renju, got n=4"),
    ],
)
def test_a_wrong_parameter_is_refused_with_what_there_is(spec, message):
    with pytest.raises(UserError) as error:
        games.make(spec)
    assert str(error.value) == message
