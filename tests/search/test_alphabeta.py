"""Alpha-beta is exact: against plain negamax in every game, against known values, against a solver of others."""

import functools
import itertools

import numpy as np
import pytest

import games
from search.alphabeta import Minimax
from support.board_drawings import play
from support.corridor import Corridor, CorridorState

SPECS = [
    "corridor", "tictactoe", "connect4", "connect4(rows=4,columns=5)", "gomoku(size=4,n=3)",
    "gomoku(size=5,n=4,rule=exact)", "gomoku(size=6,rule=renju)", "go(size=2)", "go(size=3,plies=20)",
    "go(size=3,ko=superko,suicide=yes)", "littlego", "othello(size=4)", "othello(size=6)", "othello",
    "metasquares(size=4)", "metasquares(size=5,rule=race)", "hex(size=3,swap=yes)", "hex(size=5)",
]  # fmt: skip


@functools.cache
def game_of(spec):
    return Corridor() if spec == "corridor" else games.make(spec)


@functools.cache
def solver_of(spec):
    return Minimax(game_of(spec), table=1 << 12)


def plain(state, depth=1000, known=None):
    """Return the value for the player to move by trying every move to the end, or so many moves deep and then 0."""
    known = {} if known is None else known
    if state.isEndGame or depth == 0:
        return state.value
    if (state.id, depth) not in known:
        values = []
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            value = plain(after, depth - 1, known)
            values.append(value if after.playerTurn == state.playerTurn else -value)
        known[state.id, depth] = max(values)
    return known[state.id, depth]


def long_games(game, count, seed):
    """Yield the positions of random games, the last first, in which nobody ends the game while there is another move.

    Where a board fills up few moves are left in the end, so that all can be tried.
    """
    rng = np.random.default_rng(seed)
    for _ in range(count):
        states = [game.start()]
        while not states[-1].isEndGame:
            after = [states[-1].takeAction(a)[0] for a in states[-1].allowedActions]
            states.append(rng.choice([s for s in after if not s.isEndGame] or after))
        yield states[-2::-1]


def little(state, most=150):
    """Tell whether at most so many positions can follow."""
    seen, todo = {state.id}, [state]
    while todo and len(seen) <= most:
        here = todo.pop()
        for after in (here.takeAction(a)[0] for a in here.allowedActions):
            if after.id not in seen:
                seen.add(after.id)
                todo.append(after)
    return len(seen) <= most


@functools.cache
def late_positions(spec, count=20, seed=1):
    """Return those positions of random games from which everything can be tried."""
    return [s for states in long_games(game_of(spec), count, seed) for s in itertools.takewhile(little, states)]


@pytest.mark.parametrize("spec", SPECS)
def test_the_value_of_a_late_position_is_that_of_plain_negamax(spec):
    states, found, known = late_positions(spec), set(), {}
    assert len(states) >= 40
    for state in states:
        value = plain(state, known=known)
        assert solver_of(spec).solve(state) == pytest.approx(value), f"\n{state.render()}"
        found.add(np.sign(value))
    assert len(found) > 1


@pytest.mark.parametrize("spec", ["connect4", "othello(size=6)", "littlego", "corridor"])
def test_the_values_of_moves_are_those_of_plain_negamax(spec):
    for state in late_positions(spec)[:40]:
        expected = {}
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            expected[action] = plain(after) * (1 if after.playerTurn == state.playerTurn else -1)
        assert solver_of(spec).solve_moves(state) == pytest.approx(expected)


def test_an_openspiel_game_in_which_turns_do_not_alternate_is_solved():
    pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    game = games.make("open_spiel:dots_and_boxes(num_rows=1,num_cols=2)")
    minimax, turns = Minimax(game), set()
    for states in long_games(game, 10, 3):
        for state in states[:5]:
            assert minimax.solve(state) == pytest.approx(plain(state))
            turns |= {state.playerTurn == state.takeAction(a)[0].playerTurn for a in state.allowedActions}
    assert turns == {True, False}


@pytest.mark.parametrize(
    "spec, value",
    [
        ("tictactoe", 0),
        ("connect4(rows=4,columns=4)", 0),
        ("gomoku(size=3,n=3)", 0),
        ("gomoku(size=4,n=3)", 1),
        ("othello(size=4)", -1),  # 3 : 11
        ("go(size=3,komi=8.5)", 1),  # the whole board is Black's
        ("go(size=3,komi=9.5)", -1),
    ],
)
def test_known_values_of_small_games(spec, value):
    game = games.make(spec)
    assert Minimax(game).solve(game.start()) == value


def test_every_first_move_of_tictactoe_draws():
    game = games.make("tictactoe")
    assert Minimax(game).solve_moves(game.start()) == dict.fromkeys(range(9), 0.0)


def test_values_of_connect4_agree_with_bitbully():
    bitbully = pytest.importorskip("bitbully", reason="bitbully is not installed")
    game, solver, checked = games.make("connect4"), bitbully.BitBully(), 0
    minimax, rng = Minimax(game), np.random.default_rng(5)
    while checked < 25:
        state, board = game.start(), bitbully.Board()
        for _ in range(26):
            action = int(rng.choice(state.allowedActions))
            state = state.takeAction(action)[0]
            board.play(action)
            if state.isEndGame:
                break
        if not state.isEndGame:
            expected = {int(c): float(np.sign(score)) for c, score in solver.score_all_moves(board).items()}
            assert minimax.solve_moves(state) == expected, f"\n{state.render()}"
            checked += 1


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "gomoku(size=4,n=3)", "metasquares(size=4)"])
def test_a_search_of_a_few_plies_is_plain_negamax_of_so_many(spec, monkeypatch):
    game = game_of(spec)
    monkeypatch.setattr(game, "evaluate", None)
    minimax, depths = Minimax(game, table=1 << 12), set()
    for states in long_games(game, 6, 4):
        for depth, state in enumerate(states[len(states) // 2 :][:4], 1):
            minimax.clear()
            found = minimax.search(state, depth=depth)
            assert found.value == plain(state, found.depth)
            if not found.exact:
                assert found.depth == depth
                depths.add(depth)
                after, value, done = state.takeAction(found.action)
                assert (value if done else plain(after, depth - 1)) == -found.value
    assert len(depths) > 1


def test_more_nodes_than_allowed_give_no_value():
    game = games.make("connect4")
    minimax = Minimax(game)
    assert minimax.solve(game.start(), nodes=1000) is None
    assert minimax.solve_moves(game.start(), nodes=1000) is None
    late = play(game, "1 1 1 1 1 1 2 2 2 2 2 2 4 3 3 3 3 3 3")
    assert minimax.solve(late, nodes=10**7) is not None


def test_what_was_solved_before_changes_no_value_and_saves_work():
    game = games.make("connect4(rows=4,columns=5)")
    kept = Minimax(game)
    for states in long_games(game, 10, 6):
        for state in states[3:12]:
            assert kept.solve(state) == Minimax(game, table=2).solve(state)
    before = kept.solve(game.start())
    assert kept.solve(game.start(), nodes=100_000) == before


def test_of_a_plain_game_no_more_positions_are_kept_than_may_be(monkeypatch):
    game, free = Corridor(), Corridor()
    wanted = Minimax(free).search(free.start(), depth=7)
    monkeypatch.setattr("search.alphabeta.KEPT", 300)
    few, most = Minimax(game), []
    few._slice, tidy = 16, game.tidy

    def tidied():
        game._room, before = 0, len(game)
        tidy()
        most.append(before)
        assert len(game) <= len(few.used_rows()) + 1

    monkeypatch.setattr(game, "tidy", tidied)
    found = few.search(game.start(), depth=7)
    assert (found.action, found.value, found.depth) == (wanted.action, wanted.value, wanted.depth)
    assert len(most) > 3 and 300 < max(most) < 600 < len(free)


def test_an_error_in_a_rule_of_a_plain_game_is_raised(monkeypatch):
    game = Corridor()
    minimax, start = Minimax(game), game.start()

    def failing(self, action):
        raise ZeroDivisionError("a fault of the rules")

    monkeypatch.setattr(CorridorState, "takeAction", failing)
    with pytest.raises(ZeroDivisionError):
        minimax.solve(start)


def test_a_lost_player_meets_the_threats_it_sees():
    game, checked = game_of("connect4"), 0
    minimax = Minimax(game)
    for states in long_games(game, 40, 7):
        for state in states[6:14]:
            safe = [a for a in state.allowedActions if plain(state.takeAction(a)[0], 1) < 1]
            if minimax.solve(state) == -1 and 0 < len(safe) < len(state.allowedActions):
                minimax.clear()
                assert minimax.search(state).action in safe, f"\n{state.render()}"
                checked += 1
    assert checked > 5
