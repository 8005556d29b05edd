"""The end rule of Little-Go's rollout players: when it passes, and when it leaves the search's move."""

import numpy as np
import pytest

import games
from players.rollout import RolloutPlayer
from plugins.littlego.end_rule import leaves_stone
from search.alphabeta import Minimax


def chosen(player, state, seed):
    return player.game.move_name(chosen_action(player, state, seed))


def little_go(drawing, ply):
    """Return the position of a drawing (X Black, O White), so many moves after the start."""
    cells = np.array([" -XO".index(c) for c in drawing.split()]).reshape(5, 5)
    board = np.select([cells == 2, cells == 3], [1, -1], 0)
    game = games.make("littlego")
    return game, game.position(np.zeros_like(board), board, 1 if ply % 2 == 0 else -1, ply)


CORNER = """
- X - - -
- O - - -
- - - - -
- - - - -
- - - - -
"""


@pytest.mark.parametrize(
    "ply, point, left", [(20, "a5", False), (21, "a5", True), (23, "a5", True), (21, "c5", False), (20, "c4", False)]
)
def test_a_stone_left_with_one_liberty_is_known(ply, point, left):
    game, state = little_go(CORNER, ply)
    assert leaves_stone(game, state, game.parse_move(point)) is left


def test_before_the_last_two_moves_of_each_side_nothing_is_said_and_a_pass_is_no_stone():
    game, state = little_go(CORNER, 19)
    assert not leaves_stone(game, state, game.parse_move("a5"))
    game, state = little_go(CORNER, 21)
    assert not leaves_stone(game, state, 25)


NARROW = """
X X X X X
X X X X X
- X X X -
O O O O O
- O O O -
"""


def test_a_rollout_player_of_littlego_passes_rather_than_leave_a_stone_to_be_taken():
    game, state = little_go(NARROW, 20)
    assert [game.move_name(a) for a in state.allowedActions] == ["a3", "e3", "pass"]  # each takes a liberty of two
    ruled, free = (RolloutPlayer(game, sims=2, end_rule=rule) for rule in (True, False))
    seeds = range(24)
    passed = [[chosen(player, state, seed) for seed in seeds].count("pass") for player in (ruled, free)]
    assert passed[0] >= 20 and passed[1] <= 14, "all but where the search has seen the stone win"
    state = little_go(NARROW, 18)[1]
    assert {chosen(ruled, state, seed) for seed in seeds} > {"a3"}


def test_the_end_rule_does_not_overrule_what_a_search_has_found():
    game = games.make("littlego")
    moves = game.parse_moves("b3 b2 c3 a3 d5 c4 e4 c5 d4 a4 d3 b5 b4 pass a5 b1 c1 d2 d1 a1")
    state = game.start()
    for action in moves:
        state = state.takeAction(action)[0]
    values = Minimax(game).solve_moves(state)
    assert values[game.parse_move("a2")] > values[game.parse_move("pass")]
    ruled, free = (RolloutPlayer(game, sims=400, end_rule=rule) for rule in (True, False))
    for seed in range(6):
        assert chosen(ruled, state, seed) == chosen(free, state, seed)


def test_the_end_rule_never_takes_a_pass_that_is_proven_to_lose():
    game, rng, refused = games.make("littlego"), np.random.default_rng(12), 0
    player, passing = RolloutPlayer(game, sims=60), game.parse_move("pass")
    for seed in range(400):
        state = game.start()
        for ply in range(20 + seed % 2):
            moves = [a for a in state.allowedActions if a != passing]
            state = state.takeAction(passing if ply == 19 + seed % 2 or not moves else int(rng.choice(moves)))[0]
            if state.isEndGame:
                break
        if state.isEndGame:
            continue
        action, root = chosen_action(player, state, seed), player.trees(0)[0].root
        last = dict(root.edges).get(passing)
        if root.proven is None and last is not None and last.proven == -1.0:
            assert action != passing
            kept = player.trees(0)[0].decide(0, 0.0).action
            refused += leaves_stone(game, state, kept)
    assert refused, "or the rule would not have passed"


def chosen_action(player, state, seed):
    player.new_games(1)
    player.new_game(0, seed)
    return player.act_many([0], [state], [0.0])[0].action
