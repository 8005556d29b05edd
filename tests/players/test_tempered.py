"""Players that err like people: what they draw, what they never play."""

import numpy as np
import pytest

import games
from agent import Agent
from config import SearchSettings
from players.levels import Level
from players.network_alone import PolicyPlayer
from players.tempered import LEAST, TemperedPlayer, draw_odds, of_level, winning_move
from support.board_drawings import play

GAMES = 3000


def network(game, logits, value=0.0):
    """Return an agent whose network gives every position the same logits and value."""
    logits = np.array(logits, np.float32)
    answer = lambda planes: (np.full(len(planes), value, np.float32), np.tile(logits, (len(planes), 1)))  # noqa: E731
    return Agent("toy", game, answer, SearchSettings(endgame=0))


def drawn(player, state, count=GAMES):
    """Return how often each move is played, over `count` seeds."""
    moves = []
    for first in range(0, count, 50):
        player.new_games(50)
        for slot in range(50):
            player.new_game(slot, first + slot)
        moves += [d.action for d in player.act_many(range(50), [state] * 50, [0.0] * 50)]
    return np.bincount(moves, minlength=player.game.action_size)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.0, 6.0])
def test_odds_are_powers_of_the_weights_without_the_least(temperature):
    weights = np.array([0.0, 60.0, 30.0, 5.0, 0.1])
    odds = (weights / 60) ** (1 / temperature)
    odds[odds < LEAST] = 0
    found = draw_odds(weights, temperature)
    np.testing.assert_allclose(found, odds / odds.sum())
    np.testing.assert_allclose(draw_odds(7 * weights, temperature), found)
    assert found[0] == 0 and found[1] == found.max()


def test_a_low_temperature_plays_the_best_and_a_high_one_whatever_it_knows():
    weights = np.array([0.5, 0.4, 0.1, 0.0])
    np.testing.assert_allclose(draw_odds(weights, 0.01), [1, 0, 0, 0])
    np.testing.assert_allclose(draw_odds(weights, 1e6), [1 / 3, 1 / 3, 1 / 3, 0], atol=1e-4)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
def test_moves_are_drawn_by_the_priors_of_the_network(temperature):
    game = games.make("connect4")
    logits = np.log([0.3, 0.2, 0.2, 0.1, 0.1, 0.09, 0.01])
    player = TemperedPlayer(network(game, logits), 0, temperature)
    expected = draw_odds(np.exp(logits), temperature)
    counts = drawn(player, game.start())
    assert (np.abs(counts - GAMES * expected) <= 5 * np.sqrt(GAMES * expected * (1 - expected))).all()
    assert (counts[6] == 0) == (temperature == 1.0)


def test_without_a_search_only_the_eight_best_moves_are_drawn():
    game = games.make("gomoku(size=7)")
    logits = np.random.default_rng(3).normal(size=49)
    counts = drawn(TemperedPlayer(network(game, logits), 0, 50.0), game.start())
    assert set(np.flatnonzero(counts)) == set(np.argsort(logits)[-8:]) and counts.max() < 2 * counts[counts > 0].min()


def test_a_share_of_moves_is_drawn_from_all_that_are_allowed():
    game = games.make("connect4")
    state, logits = play(game, "1 1 1 1 1 1"), np.log([0.3, 0.3, 0.2, 0.1, 0.1, 0.001, 0.001])
    counts = drawn(TemperedPlayer(network(game, logits), 0, 1.0, slips=0.4), state)
    weights = np.exp(logits)
    weights[0] = 0.0
    expected = 0.6 * draw_odds(weights, 1.0) + 0.4 * np.array([0, 1, 1, 1, 1, 1, 1]) / 6
    assert counts[0] == 0 and counts[5:].min() > 0, "the full column never, unlikely ones by a slip"
    assert (np.abs(counts - GAMES * expected) <= 5 * np.sqrt(GAMES * expected * (1 - expected))).all()
    other = TemperedPlayer(network(game, logits), 0, 1.0, slips=0.4).with_network(network(game, logits))
    assert other.slips == 0.4


@pytest.mark.parametrize("sims, slips", [(0, -0.1), (0, 1.1), (8, 0.5)])
def test_slips_are_a_share_of_the_moves_of_a_network_alone(sims, slips):
    with pytest.raises(ValueError, match="`slips`"):
        TemperedPlayer(network(games.make("tictactoe"), np.zeros(9)), sims, 1.0, slips)


def test_moves_are_drawn_by_the_visits_of_the_search():
    game = games.make("connect4")
    agent = network(game, np.log([0.3, 0.2, 0.2, 0.1, 0.1, 0.09, 0.01]))
    searched = agent.twin(game, 24, leaves=1)
    searched.think(game.start())
    expected = draw_odds(searched._tree.visit_counts(), 1.5)
    counts = drawn(TemperedPlayer(agent, 24, 1.5), game.start())
    assert (np.abs(counts - GAMES * expected) <= 5 * np.sqrt(GAMES * expected * (1 - expected))).all()


@pytest.mark.parametrize("sims", [0, 16])
def test_a_game_depends_on_its_seed_only(sims):
    game = games.make("connect4")
    state, agent = game.start(), network(game, np.zeros(7))
    many, one = TemperedPlayer(agent, sims, 5.0), TemperedPlayer(agent, sims, 5.0)
    many.new_games(8)
    for slot in range(8):
        many.new_game(slot, slot)
    for slot, decision in enumerate(many.act_many(range(8), [state] * 8, [0.0] * 8)):
        one.new_game(0, slot)
        assert one.act(state, 1.0)[0] == decision.action


WINS = [
    ("connect4", "4 1 4 1 4 1", "4"), ("connect4", "1 2 1 2 1 3 7 2 7", "2"), ("tictactoe", "a1 b2 a2 c3", "a3"),
    ("gomoku", "a1 e5 a2 e6 a3 e7 a9 e8 i9", "e9"),
]  # fmt: skip


@pytest.mark.parametrize("spec, moves, win", WINS)
@pytest.mark.parametrize("sims, slips", [(0, 0.0), (0, 1.0), (16, 0.0)])
def test_a_win_at_once_is_taken_however_little_the_network_likes_it(spec, moves, win, sims, slips):
    game = games.make(spec)
    state, action = play(game, moves), game.parse_move(win)
    logits = np.zeros(game.action_size)
    logits[action] = -20.0
    counts = drawn(TemperedPlayer(network(game, logits), sims, 20.0, slips), state, 50)
    wins = np.flatnonzero(counts)
    assert all(state.takeAction(a)[0].isEndGame for a in wins) and winning_move(game, state) in wins


def test_a_search_plays_no_move_that_it_has_proven_to_lose():
    game = games.make("connect4")
    state, block = play(game, "4 1 4 1 4"), game.parse_move("4")
    logits = np.zeros(7)
    logits[block] = -20.0
    assert drawn(TemperedPlayer(network(game, logits), 16, 20.0), state, 50)[block] == 50
    assert drawn(TemperedPlayer(network(game, logits), 0, 20.0), state, 50)[block] < 50, "it misses what it has to see"


@pytest.mark.parametrize("spec", ["connect4", "tictactoe", "othello", "go"])
def test_no_win_is_named_where_none_is(spec):
    game = games.make(spec)
    assert winning_move(game, game.start()) is None


def test_the_player_of_a_level():
    game = games.make("tictactoe")
    agent = network(game, np.zeros(9))
    assert of_level(Level("shipped", 8, 0.0, 0.0), agent) is agent
    assert isinstance(of_level(Level("net:shipped", 0, 0.0, 0.0), agent), PolicyPlayer)
    player = of_level(Level("shipped", 8, 0.0, 0.0, 2.0), agent)
    assert isinstance(player, TemperedPlayer) and (player.sims, player.temperature, player.slips) == (8, 2.0, 0.0)
    gentle = of_level(Level("net:shipped", 0, 0.0, 0.0, 6.0, slips=0.5), agent)
    assert isinstance(gentle, TemperedPlayer) and (gentle.sims, gentle.slips) == (0, 0.5)
    with pytest.raises(ValueError, match="`temperature` > 0"):
        TemperedPlayer(agent, 8, 0.0)
