"""The rules of Go against known counts, OpenSpiel, GNU Go and a slow Go in plain Python; what people type and see."""


import numpy as np
import pytest

import games
from agent import Agent
from config import UserError
from evaluation.game_contract import check
from game import OVER, PLAYER, PLY
from games.chains import KO, PASSED, board_area, colours
from search.alphabeta import Minimax
from support.perft import _children, sequences
from support.reference_go import PlainGo
from support.search_cases import Projection


def stones(text):
    """The board of a drawing, from the top, [size, size] in {1, -1, 0}."""
    return np.array([[{"X": 1, "O": -1, "-": 0}[w] for w in line.split()] for line in text.strip().splitlines()])


def setup(spec, text, to_move=1):
    """A position by its drawing, reached with passes between the stones; those of the other player come last."""
    state, board = games.make(spec).start(), stones(text)
    for player in (to_move, -to_move):
        for p in np.flatnonzero(board == player):
            if state.playerTurn != player:
                state = state.takeAction(board.size)[0]
            state = state.takeAction(int(p))[0]
    assert (colours(state.row) == board).all() and (state.playerTurn, state.row[PASSED]) == (to_move, 0)
    return state


def play(state, moves):
    for action in state.game.parse_moves(moves):
        state = state.takeAction(action)[0]
    return state


def can(state, move):
    return state.game.parse_move(move) in state.allowedActions


# ---- counts


def test_move_sequences_are_as_many_as_known():
    assert [sequences(games.make("go"), depth)[0] for depth in (1, 2, 3, 4)] == [26, 651, 15650, 361041]
    small = games.make("go(size=3)")
    assert [sequences(small, depth)[0] for depth in (1, 2, 3, 4, 5)] == [10, 91, 738, 5281, 33384]


@pytest.mark.parametrize("size, known", [(2, 57), (3, 12675)])
def test_all_legal_boards_are_reached_and_no_other(size, known):
    """Tromp and Farnebäck 2007: so many boards on which every chain has a liberty."""
    game = games.make(f"go(size={size})")
    rows, seen, boards = game.start_row[None], set(), set()
    while len(rows):
        rows, _ = _children(game.rules, rows, game.action_size)
        rows = rows[rows[:, OVER] == 0]
        rows[:, PLY] = 1
        new = []
        for i, row in enumerate(rows):
            board = colours(row).tobytes()
            boards.add(board)
            mark = board, row[PLAYER], row[KO], row[PASSED]
            if mark not in seen:
                seen.add(mark)
                new.append(i)
        rows = rows[new]
    assert len(boards) == known


# ---- other implementations


@pytest.mark.parametrize("size, komi, count", [(5, 2.5, 1000), (3, 0.0, 300), (9, 7.5, 40), (19, 7.5, 3)])
def test_random_games_go_as_in_openspiel_until_a_board_comes_back(size, komi, count):
    """OpenSpiel counts points from the bottom left and calls a board that comes back a draw; here the game goes on."""
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    game = games.make(f"go(size={size},komi={komi})")
    spiel = pyspiel.load_game(f"go(board_size={size},komi={komi},max_game_length={game.max_plies})")
    points = np.arange(size * size).reshape(size, size)[::-1].ravel()
    theirs = [*points.tolist(), size * size]
    rng, repeated = np.random.default_rng(1), 0
    for _ in range(count):
        state, twin, boards = game.start(), spiel.new_initial_state(), {colours(game.start_row).tobytes()}
        while not state.isEndGame:
            legal = state.allowedActions
            assert legal == sorted(theirs[a] for a in twin.legal_actions()), f"\n{state}"
            assert state.playerTurn == 1 - 2 * twin.current_player(), f"\n{state}"
            action = legal[rng.integers(len(legal))]
            state = state.takeAction(action)[0]
            twin.apply_action(theirs[action])
            board = colours(state.row).tobytes()
            if action != size * size and board in boards:
                assert twin.is_terminal() and twin.returns()[0] == 0, f"\n{state}"
                repeated += 1
                break
            boards.add(board)
            assert state.isEndGame == twin.is_terminal(), f"\n{state}"
        else:
            assert state.value * state.playerTurn == twin.returns()[0], f"\n{state}"
    assert repeated < count / 2


@pytest.mark.parametrize("ko", ["simple", "superko"])
@pytest.mark.parametrize("suicide", ["no", "yes"])
@pytest.mark.parametrize("size, count", [(2, 60), (3, 40), (4, 15), (5, 6)])
def test_random_games_go_as_in_plain_python(size, count, ko, suicide):
    """Passes are rare, so that games are long and boards have reason to come back."""
    game = games.make(f"go(size={size},komi=1,ko={ko},suicide={suicide},plies={4 * size * size})")
    rng, seen = np.random.default_rng(size), set()
    for _ in range(count):
        state, twin, plies = game.start(), PlainGo(size, 1, ko == "superko", suicide == "yes"), 0
        while not state.isEndGame:
            assert state.allowedActions == twin.legal(), f"\n{state}"
            assert (state.playerTurn, twin.passes < 2) == (twin.player, True)
            assert (colours(state.row).ravel() == twin.board).all(), f"\n{state}"
            mine, other = state.score
            assert (mine - other) * state.playerTurn == twin.lead(), f"\n{state}"
            points = state.allowedActions[:-1]
            seen.add("barred" if len(points) < twin.board.count(0) else "free")
            action = int(rng.choice(points)) if points and rng.random() < 0.97 else size * size
            state = state.takeAction(action)[0]
            twin.play(action)
            plies += 1
        assert twin.passes == 2 or plies == 4 * size * size
        assert state.value * state.playerTurn == np.sign(twin.lead()), f"\n{state}"
    assert seen == {"barred", "free"}


# ---- rules on boards one can look at

KO_FIGHT = """
    -  X  O  -
    X  O  -  O
    -  X  O  -
    -  -  -  - """


def test_a_ko_may_not_be_taken_back_at_once_but_after_a_move_elsewhere():
    state = play(setup("go(size=4)", KO_FIGHT), "c3")
    assert colours(state.row)[1].tolist() == [1, 0, 1, -1] and not can(state, "b3")
    assert state.planes()[..., 4].nonzero()[0].tolist() == [1] and state.planes()[1, 1, 4] == 1
    state = play(state, "a1 d1")
    assert can(state, "b3") and not state.planes()[..., 4].any()


def test_taking_one_stone_with_one_that_joins_others_is_no_ko():
    state = setup("go(size=4)", """
        -  X  O  -
        X  O  -  X
        -  X  O  -
        -  -  X  -  """)  # fmt: skip
    state = play(state, "c3")
    assert colours(state.row)[1].tolist() == [1, 0, 1, 1] and not state.planes()[..., 4].any()


def test_a_stone_that_takes_may_fill_its_own_last_liberty_and_be_taken_with_more():
    """A snapback: White takes one stone, Black takes three."""
    state = setup("go(size=4)", """
        -  O  -  X
        X  O  O  X
        -  X  X  -
        -  -  -  - """)  # fmt: skip
    state = play(state, "c4 pass")
    assert colours(state.row)[0].tolist() == [0, -1, 1, 1]
    state = play(state, "a4")
    assert colours(state.row)[:2].tolist() == [[1, 0, 1, 1], [1, 0, 0, 1]]


@pytest.mark.parametrize("ko", ["simple", "superko"])
def test_a_stone_without_liberties_may_be_put_only_where_it_takes_or_where_more_than_it_die(ko):
    text = """
        -  X  -
        X  -  -
        -  -  -  """
    for suicide in ("no", "yes"):
        state = setup(f"go(size=3,ko={ko},suicide={suicide})", text, -1)
        assert not can(state, "a3"), "it would leave the board as it was"
    text = """
        -  O  X
        X  X  -
        -  -  -  """
    assert not can(setup(f"go(size=3,ko={ko})", text, -1), "a3")
    state = setup(f"go(size=3,ko={ko},suicide=yes)", text, -1)
    assert colours(play(state, "a3").row)[0].tolist() == [0, 0, 1]
    state = setup(f"go(size=3,ko={ko})", text)
    assert colours(play(state, "a3").row)[0].tolist() == [1, 0, 1]


def test_with_superko_no_board_comes_back_and_without_it_does():
    for ko, allowed in (("simple", True), ("superko", False)):
        rng, game, found = np.random.default_rng(5), games.make(f"go(size=2,ko={ko},plies=16)"), False
        for _ in range(200):
            state, boards = game.start(), set()
            while not state.isEndGame:
                action = int(rng.choice(state.allowedActions))
                state = state.takeAction(action)[0]
                board = colours(state.row).tobytes()
                found |= action != 4 and board in boards
                boards.add(board)
        assert found == allowed


def test_points_are_stones_and_regions_that_touch_one_colour_only():
    text = """
        -  X  -  O  -
        X  X  -  O  O
        -  X  O  O  -
        X  X  X  O  -
        -  -  X  O  - """
    state = setup("go(komi=0.5)", text)
    assert state.score == (12.0, 12.5 - 1), "c5, c4 belong to nobody"
    over = play(state, "pass pass")
    assert over.isEndGame and over.value * over.playerTurn == 1.0
    for komi, result in ((0, 1.0), (1, 0.0), (1.5, -1.0)):
        over = play(setup(f"go(komi={komi})", text, -1), "pass pass")
        assert (over.isEndGame, over.value * over.playerTurn) == (True, result), komi


def test_the_empty_board_belongs_to_nobody_and_komi_decides():
    over = play(games.make("go").start(), "pass pass")
    assert (over.isEndGame, over.value, over.score) == (True, -1.0, (0.0, 2.5)), "Black has lost"
    assert play(games.make("go(komi=0)").start(), "pass pass").value == 0.0
    assert games.make("go(komi=-0)").spec == "go(komi=0)"


def test_at_the_last_ply_the_board_is_scored_as_it_is():
    state = play(games.make("go(plies=3)").start(), "c3 pass")
    assert not state.isEndGame
    over = play(state, "c2")
    assert (over.isEndGame, over.score, over.value) == (True, (2.5, 25.0), -1.0)


# ---- what the search and the network see


def test_planes_show_stones_those_with_one_liberty_ko_pass_and_side():
    state = setup("go(size=4)", """
        X  O  -  -
        -  -  -  -
        -  X  O  X
        -  -  X  - """, -1)  # fmt: skip
    own, other, own_last, other_last, ko, passed, black, ones = state.planes().transpose(2, 0, 1)
    points = lambda plane: [state.game.move_name(int(p)) for p in np.flatnonzero(plane)]  # noqa: E731
    assert (points(own), points(other)) == (["b4", "c2"], ["a4", "b2", "d2", "c1"])
    assert (points(own_last), points(other_last)) == (["c2"], ["a4"])
    assert (ko.sum(), passed.sum(), black.sum(), ones.sum()) == (0, 0, 0, 16)
    after = play(state, "pass").planes()
    assert (after[..., 5].sum(), after[..., 6].sum()) == (16, 16)


def test_equal_positions_have_one_key_and_different_futures_have_different_ones():
    def key(moves, spec="go"):
        return play(games.make(spec).start(), moves).id

    assert key("c3 d4 c2 d2") == key("c2 d2 c3 d4")
    assert key("c3 d4 c2 d2", "go(ko=superko)") != key("c2 d2 c3 d4", "go(ko=superko)"), "other boards are barred"
    assert len({key(m) for m in ("", "pass", "c3", "c3 pass", "c3 pass c2 pass", "c2 pass c3 d4", "c3 d4")}) == 7
    assert key("c3 d4 pass") != key("c3 d4"), "a pass ends the game now"
    assert key("c3 d4 pass pass") != key("pass d4 c3 pass"), "two passes ended one of them"
    assert key("c3 d4 c2 d2 pass pass", "littlego") != key("c3 d4 pass d2 c2 pass", "littlego")
    taken = play(setup("go(size=4)", KO_FIGHT), "c3")
    row = taken.row.copy()
    row[KO] = 0
    assert taken.game.state_of(row).id != taken.id, "a ko may not be taken back"


@pytest.mark.parametrize("ko", ["simple", "superko"])
@pytest.mark.parametrize("suicide", ["no", "yes"])
@pytest.mark.parametrize("rest, count", [("2", 20), ("3", 8), ("5", 2), ("9,plies=60", 1), ("19,plies=20", 1)])
def test_check_finds_no_fault(rest, count, ko, suicide):
    assert check(games.make(f"go(size={rest},ko={ko},suicide={suicide})"), games=count) == []


# ---- what people type and see


def test_a_board_is_drawn_with_gos_names_and_a_pass_is_told():
    state = play(games.make("go(size=9)").start(), "j9 a1 pass")
    lines = [line.rstrip() for line in str(state).splitlines()]
    assert lines[0] == " 9  -  -  -  -  -  -  -  -  X"
    assert lines[-3:] == [" 1  O  -  -  -  -  -  -  -  -", "    a  b  c  d  e  f  g  h  j", "   passed"]
    assert (state.game.parse_move("J1"), state.game.parse_move("PASS")) == (80, 81)
    assert state.game.move_name(40) == "e5"


@pytest.mark.parametrize("spec", ["go", "go(komi=7.5,size=9)", "go(ko=superko,plies=30,suicide=yes)", "go(komi=-3)"])
def test_the_spec_of_a_game_makes_it_again(spec):
    game = games.make(spec)
    assert game.spec == spec == games.make(game.spec).spec
    assert (games.make(spec).start_row == game.start_row).all()


def test_as_many_plies_as_by_default_are_no_parameter():
    assert [games.make(f"go({x})").spec for x in ("plies=50", "size=3,plies=18", "plies=18")] == [
        "go", "go(size=3)", "go(plies=18)"
    ]  # fmt: skip


@pytest.mark.parametrize(
    "inside, message",
    [
        ("size=1", "expected size from 2 to 19, got 1"),
        ("size=20", "expected size from 2 to 19, got 20"),
        ("komi=0.3", "expected komi from -361.5 to 361.5 in steps of 0.5, got 0.3"),
        ("komi=26", "expected a komi from -25.5 to 25.5 for size 5, got 26"),
        ("ko=positional", "expected ko out of simple, superko, got 'positional'"),
        ("suicide=maybe", "expected suicide out of no, yes, got 'maybe'"),
        ("suicide=1", "expected a word for suicide, got '1'"),
        ("plies=101", "expected plies from 1 to 100 for size 5, or 0, got 101"),
        ("rule=chinese", "expected a parameter out of size, komi, ko, suicide, plies, got 'rule'"),
    ],
)
def test_a_wrong_parameter_is_refused_with_what_there_is(inside, message):
    with pytest.raises(UserError) as error:
        games.make(f"go({inside})")
    assert str(error.value).startswith(f"go: {message}") and "\n" not in str(error.value)


def test_the_row_grows_with_the_plies_only_where_boards_are_remembered():
    assert len(games.make("go(plies=99)").start_row) == len(games.make("go").start_row)
    assert len(games.make("go(ko=superko)").start_row) > len(games.make("go").start_row) + 2 * 50
    assert board_area(19) == 421


@pytest.mark.parametrize("spec", ["go(size=3)", "go(size=5,ko=superko)", "littlego", "gomoku(size=6)", "hex(size=4)"])
def test_the_same_stones_with_another_player_to_move_are_another_position(spec):
    game, rng = games.make(spec), np.random.default_rng(4)
    size = game.grid_shape[0]
    for _ in range(20):
        board = np.zeros((size, size), np.int8)
        board[0, rng.integers(size)], board[2, rng.integers(size)] = 1, -1
        black, white = game.set_up(board, 1), game.set_up(board, -1)
        assert black.id != white.id and black.id == game.set_up(board, 1).id


def test_a_solver_and_a_search_do_not_take_one_players_position_for_the_others():
    """Stones set up for Black, then for White: exact values, tree and evaluations are those of a fresh one."""
    game, rng = games.make("go(size=3)"), np.random.default_rng(1)
    kept = Minimax(game)
    agent = Agent("kept", game, Projection(game), mcts_sims=30, leaves=1)
    found = 0
    while found < 12:
        board = rng.choice(np.array([0, 1, -1]), (3, 3))
        try:
            pair = [game.set_up(board, player) for player in (1, -1)]
        except UserError:  # a chain without a liberty
            continue
        found += 1
        for state in pair:
            assert kept.solve_moves(state) == Minimax(game).solve_moves(state), f"\n{state}"
            agent.think(state)
            fresh = Agent("fresh", game, Projection(game), mcts_sims=30, leaves=1)
            fresh.think(state)
            assert agent.MCTS.root.playerTurn == state.playerTurn
            assert agent.MCTS.root.Q == pytest.approx(fresh.MCTS.root.Q, abs=1e-6)
