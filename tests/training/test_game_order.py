"""The order in which an iteration's games are played: those that begin with most random moves come last."""

import numpy as np

from support.search_cases import GAMES, Projection
from support.tiny_runs import tiny
from training.selfplay import SelfPlay, game_seed, longest_first

OPENED = {"random_opening_share": 0.7, "random_opening_plies": 6, "full_search_share": 1.0, "game": "connect4"}


def records_of(config, order, batches=None):
    """Return the records of games played in an order; `batches` takes their number."""
    selfplay = SelfPlay(GAMES["connect4"], config, threads=1)
    records = list(selfplay.play(Projection(GAMES["connect4"]), [(i, game_seed("run", 3, i)) for i in order]))
    if batches is not None:
        batches.append(selfplay.counts().batches)
    return {r.index: r for r in records}


def test_the_games_with_the_fewest_random_moves_come_first():
    config = tiny(**OPENED)
    order = longest_first(config, "run", 3, range(5, 205))
    assert sorted(order) == list(range(5, 205))
    records = records_of(config, order)
    random_moves = [int(np.argmax(records[i].visits.any(axis=1))) for i in order]
    assert random_moves == sorted(random_moves) and set(random_moves) == set(range(7))
    alike = [[i for i in order if random_moves[order.index(i)] == n] for n in range(7)]
    assert alike == [sorted(group) for group in alike]


def test_without_random_moves_the_order_stays_and_without_games_there_is_none():
    config = tiny(**{**OPENED, "random_opening_share": 0.0})
    assert longest_first(config, "run", 3, [7, 2, 9]) == [7, 2, 9]
    assert longest_first(tiny(**OPENED), "run", 3, []) == []


def test_the_games_are_the_same_in_every_order_and_take_fewer_batches_the_longest_first():
    config, batches = tiny(**{**OPENED, "random_opening_plies": 30, "cache_size": 0}), []
    order = longest_first(config, "run", 3, range(100))
    best, worst = records_of(config, order, batches), records_of(config, order[::-1], batches)
    for index, record in best.items():
        other = worst[index]
        assert record.result == other.result and np.array_equal(record.moves, other.moves)
        assert np.array_equal(record.visits, other.visits) and np.array_equal(record.values, other.values)
    assert batches[0] < 0.9 * batches[1]
