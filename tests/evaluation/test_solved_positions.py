"""Positions solved exactly: by whom, which, and how they are kept. Oracles: bitbully's search of each move, negamax."""

import json
from functools import cache

import numpy as np
import pytest

import games
from config import UserError
from evaluation import solved_positions
from evaluation.openings import identity
from evaluation.solved_positions import cache_file, oracle, positions

bitbully = pytest.importorskip("bitbully", reason="needs bitbully: pip install bitbully")


@pytest.fixture(scope="module")
def connect4():
    game = games.make("connect4")
    who = oracle(game)
    return game, who, positions(game, who, 60, 7)


def after(game, moves):
    state = game.start()
    for move in moves:
        state = state.takeAction(move)[0]
    return state


def negamax(state):
    """Return the exact value for the player to move, by trying everything."""
    if state.isEndGame:
        return state.value
    return max(-negamax(state.takeAction(a)[0]) for a in state.allowedActions)


def test_scores_agree_with_bitbully_asked_about_each_move_by_itself(connect4):
    game, _, found = connect4
    solver = bitbully.BitBully(opening_book=None)
    late = [p for p in found if p.ply >= 14]
    assert len(late) > 10
    for position in late:
        for action, score in position.scores.items():
            board = bitbully.Board()
            assert all(board.play(int(move)) for move in (*position.moves, action))
            state, value, over = after(game, position.moves).takeAction(action)
            if over:
                assert position.values[action] == -value
            else:
                assert score == -solver.mtdf(board), (position.moves, action)


def test_every_position_can_arise_and_its_moves_differ_in_value(connect4):
    game, who, found = connect4
    for p in found:
        assert sorted(p.scores) == list(after(game, p.moves).allowedActions) and p.state.id == after(game, p.moves).id
        assert set(p.values.values()) <= {-1, 0, 1} and len(set(p.values.values())) > 1
        assert p.keeping == {a for a in p.scores if np.sign(p.scores[a]) == np.sign(max(p.scores.values()))}
        assert p.best <= p.keeping and who.plies[0] <= p.ply <= who.plies[1]


def test_no_two_positions_are_alike_up_to_symmetry(connect4):
    def cells(state):
        rows = [line.split() for line in state.render().splitlines()]
        rows = [row for row in rows if len(row) == 7]
        return min(str(rows), str([row[::-1] for row in rows]))

    _, _, found = connect4
    assert len({cells(p.state) for p in found}) == len(found)


def test_symmetric_positions_have_one_identity_and_others_another():
    game = games.make("connect4")
    assert identity(game, after(game, [0, 1])) == identity(game, after(game, [6, 5]))
    assert len({identity(game, after(game, moves)) for moves in ([0], [1], [2], [3], [0, 1], [0, 2])}) == 6


def test_fewer_positions_of_a_seed_are_the_first_ones_of_more(connect4, tmp_path, monkeypatch):
    game, who, found = connect4
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert [p.moves for p in positions(game, who, 10, 7)] == [p.moves for p in found[:10]]
    assert [p.moves for p in positions(game, who, 10, 8)] != [p.moves for p in found[:10]]


def test_kept_positions_are_read_not_solved_again(connect4):
    game, who, found = connect4
    silent = who._replace(scores=lambda state: pytest.fail("asked the solver"))
    assert [(p.moves, p.scores) for p in positions(game, silent, 25, 7)] == [(p.moves, p.scores) for p in found[:25]]


def spoilt(path, change):
    kept = json.loads(path.read_text())
    change(kept)
    path.write_text(json.dumps(kept))


@pytest.mark.parametrize(
    "change",
    [
        lambda kept: kept.clear(),
        lambda kept: kept["positions"][3][0].append(99),
        lambda kept: kept["positions"][3][1].pop(),
        lambda kept: kept["positions"].__setitem__(3, None),
        lambda kept: kept["positions"][3][0].append(float("inf")),
        lambda kept: kept.update(positions=7),
    ],
)
def test_a_damaged_file_is_made_again(change, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    game = games.make("tictactoe")
    who = oracle(game)
    right = [(p.moves, p.scores) for p in positions(game, who, 8, 0)]
    path = cache_file(game, who, 0)
    text = path.read_text()
    spoilt(path, change)
    assert [(p.moves, p.scores) for p in positions(game, who, 8, 0)] == right and path.read_text() == text


def test_text_that_is_no_json_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    game = games.make("tictactoe")
    path = cache_file(game, oracle(game), 0)
    path.parent.mkdir(parents=True)
    for text in ("", "[" * 100_000, "\0"):
        path.write_text(text)
        assert len(positions(game, oracle(game), 3, 0)) == 3


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    game = games.make("tictactoe")
    assert len(positions(game, oracle(game), 3, 0)) == 3


def test_tictactoe_is_taken_wholly():
    """Every position up to the eight symmetries whose moves differ in value, found by other means."""
    grid = np.arange(9).reshape(3, 3)
    turns = [np.rot90(g, k).ravel() for g in (grid, grid.T) for k in range(4)]

    @cache
    def value(board, player):
        lines = [*grid, *grid.T, grid.diagonal(), np.fliplr(grid).diagonal()]
        if any(all(board[i] == -player for i in line) for line in lines):
            return -1
        return max((-value(put(board, i, player), -player) for i in range(9) if not board[i]), default=0)

    def put(board, i, player):
        return (*board[:i], player, *board[i + 1 :])

    level, expected = {(0,) * 9}, 0
    for ply in range(9):
        player = 1 if ply % 2 == 0 else -1
        going = {b for b in level if value(b, player) != -1 or not _won(b, -player, grid)}
        forms = {min(tuple(b[i] for i in turn) for turn in turns) for b in going}
        for b in forms:
            values = {-value(put(b, i, player), -player) for i in range(9) if not b[i]}
            expected += len(values) > 1
        level = {put(b, i, player) for b in forms for i in range(9) if not b[i]}
    game = games.make("tictactoe")
    found = positions(game, oracle(game), 10_000, 3)
    assert len(found) == expected
    assert all(p.scores == {a: -negamax(p.state.takeAction(a)[0]) for a in p.scores} for p in found[::9] if p.ply > 2)


def _won(board, player, grid):
    lines = [*grid, *grid.T, grid.diagonal(), np.fliplr(grid).diagonal()]
    return any(all(board[i] == player for i in line) for line in lines)


@pytest.mark.parametrize("spec", ["othello(size=6)", "go(size=3)", "littlego", "connect4(rows=4,columns=4)"])
def test_endings_of_other_games_agree_with_plain_negamax(spec):
    game = games.make(spec)
    who = oracle(game)
    late = {"othello(size=6)": 28, "go(size=3)": 15, "littlego": 22, "connect4(rows=4,columns=4)": 11}[spec]
    found = positions(game, who._replace(plies=(late, who.plies[1])), 6, 11)
    assert len(found) == 6
    for p in found:
        for action, value in p.values.items():
            state = p.state.takeAction(action)[0]
            sign = 1 if state.playerTurn == p.state.playerTurn else -1
            assert value == sign * plain(state), (p.moves, action)


def plain(state):
    if state.isEndGame:
        return np.sign(state.value)
    following = [state.takeAction(a)[0] for a in state.allowedActions]
    return max(plain(s) * (1 if s.playerTurn == state.playerTurn else -1) for s in following)


def test_a_game_without_a_solver_has_no_oracle_and_a_missing_one_is_named(monkeypatch):
    assert oracle(games.make("gomoku(size=9)")) is None
    monkeypatch.setitem(__import__("sys").modules, "bitbully", None)
    with pytest.raises(UserError, match="pip install bitbully"):
        oracle(games.make("connect4"))


def test_a_game_whose_moves_never_differ_is_given_up(monkeypatch):
    monkeypatch.setattr(solved_positions, "GIVE_UP", 50)
    game = games.make("connect4(rows=4,columns=4)")
    who = oracle(game)._replace(scores=lambda state: dict.fromkeys(state.allowedActions, 0.0), name="nobody")
    assert positions(game, who, 5, 0) == []


def test_games_in_plain_python_have_no_solver_whatever_their_names():
    pytest.importorskip("pyspiel", reason="needs open_spiel")
    for name in ("othello", "go(board_size=5)"):
        assert oracle(games.make(f"open_spiel:{name}")) is None
    assert oracle(games.make("othello")) is not None
