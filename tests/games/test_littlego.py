"""Little-Go against a host in plain Python."""

import numpy as np
import pytest
from support.littlego_host import GAME, name, random_games

from config import UserError
from evaluation.game_contract import check
from game import PLY
from games.chains import KO, colours


def test_random_games_go_as_the_host_judges_them():
    played = {"ko": 0, "passes": 0, "moves": 0}
    for host, state, action in random_games(200, 1, passing=0.1):
        assert host.over == (action is None) == state.isEndGame
        board = np.array(host.board)
        assert (colours(state.row) == np.where(board == 2, -1, board)).all(), f"\n{state}"
        mine, other = state.score
        assert (mine - other) * state.playerTurn == host.lead()
        if action is None:
            assert state.value * state.playerTurn == np.sign(host.lead()) != 0
            played["moves" if host.moves == 24 else "passes"] += 1
        else:
            assert [name(a) for a in state.allowedActions] == host.legal(), f"\n{state}"
            assert state.playerTurn == {1: 1, 2: -1}[host.colour]
            played["ko"] += bool(state.row[KO])
    assert min(played.values()) >= 3, played


def test_a_position_rebuilt_from_two_boards_is_the_position():
    for host, state, action in random_games(60, 2):
        if action is not None:
            boards = [np.where(np.array(b) == 2, -1, b) for b in (host.before, host.board)]
            again = GAME.position(*boards, state.playerTurn, int(state.row[PLY]))
            assert (again.id, again.allowedActions) == (state.id, state.allowedActions), f"\n{state}"
            assert (again.planes() == state.planes()).all() and again.score == state.score


def test_a_pass_ends_the_game_when_both_boards_are_equal_so_also_at_the_start():
    state = GAME.start()
    over, value, done = state.takeAction(25)
    assert (done, value, over.score) == (True, 1.0, (2.5, 0.0)), "White to move has won by komi"
    state = state.takeAction(12)[0].takeAction(25)[0]
    assert not state.isEndGame and state.takeAction(25)[2] and not state.takeAction(0)[2]


def test_the_game_ends_after_24_moves_passes_among_them():
    state = GAME.start()
    for ply in range(24):
        assert (state.isEndGame, int(state.row[PLY])) == (False, ply)
        state = state.takeAction(25 if ply % 4 == 3 else state.allowedActions[0])[0]
    assert state.isEndGame and state.allowedActions == []


def test_planes_tell_how_many_plies_are_left():
    state, shown = GAME.start(), []
    for _ in range(24):
        planes = state.planes()
        assert set(planes[..., 8:].reshape(25, -1).sum(axis=0).tolist()) <= {0, 25}
        shown.append(int(planes[0, 0, 8:].sum()))
        assert planes[0, 0, 6] == (state.playerTurn == 1) and planes[..., 7].all()
        state = state.takeAction(state.allowedActions[0])[0]
    most = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20]
    assert shown == [sum(24 - ply <= m for m in most) for ply in range(24)]


def test_check_finds_no_fault():
    assert check(GAME, games=10) == [] and GAME.spec == "littlego"


def test_a_board_with_a_chain_without_liberties_is_refused():
    board = np.zeros((5, 5), int)
    board[0, 0], board[0, 1], board[1, 0] = 1, -1, -1
    with pytest.raises(UserError, match="every chain has a liberty"):
        GAME.position(board, board, 1, 4)
