"""Little-Go's rules in plain Python: those of the course's host, and a sensible move."""

import copy

from game import PLY
from plugins.littlego.rules import Given, after, breathes, legal, move_of_need
from support.littlego_host import name, random_games


def as_given(host):
    boards = [[{0: 0, 1: 1, 2: -1}[point] for line in board for point in line] for board in (host.before, host.board)]
    return Given({1: 1, 2: -1}[host.colour], *map(tuple, boards))


def test_the_plain_rules_are_those_of_the_host_and_the_move_of_need_is_legal():
    for host, state, action in random_games(40, 4, passing=0.1):
        if action is None:
            continue
        given, ply = as_given(host), int(state.row[PLY])
        assert [name(a) for a in legal(given)] == host.legal(), f"\n{state}"
        assert move_of_need(given, ply) in legal(given) and breathes(given.board)
        later = copy.deepcopy(host)
        later.play(name(action))
        assert after(given.board, action, given.player) == as_given(later).board


def test_the_move_of_need_takes_what_it_can_and_passes_only_when_it_must():
    board = [0] * 25
    board[0:3], board[5:8] = [-1] * 3, [1] * 3
    assert move_of_need(Given(1, (0,) * 25, tuple(board)), 6) == 3, "three stones are taken"
    full = [1] * 25
    full[0] = full[24] = 0
    assert move_of_need(Given(-1, (0,) * 25, tuple(full)), 23) == 25
    assert move_of_need(Given(-1, (0,) * 25, tuple(int(i == 12) for i in range(25))), 1) == 7, "beside the centre"


def test_the_move_of_need_does_not_walk_into_a_capture():
    board = [0] * 25
    board[1] = board[5] = -1  # a stone in the corner between them would have no liberty; next to it, one
    board[7] = 1
    given = Given(1, (0,) * 25, tuple(board))
    best = move_of_need(given, 3)
    new = after(given.board, best, 1)
    assert min(sum(after(new, reply, -1) or new) for reply in legal(Given(-1, given.board, new))) == 2 - 2 - 1
