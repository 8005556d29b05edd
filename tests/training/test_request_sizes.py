"""What a network that takes questions in pieces is asked: whole pieces, for the games first that have most to go."""

from collections import deque

import numpy as np
import pytest

from compiled import call
from network.predictor import BATCHES, STEADY, padded, pieces
from support.search_cases import GAMES, Projection
from support.tiny_runs import jobs, tiny
from training.selfplay import SelfPlay
from training.selfplay_step import request_size
from training.worker_pool import LocalPool, RoundSpec

PIECE, TREES = 4, 32


class Counting(Projection):
    """A network that keeps how many questions came at once."""

    def __init__(self, game):
        super().__init__(game)
        self.counts = []

    def __call__(self, planes):
        self.counts.append(len(planes))
        return super().__call__(planes)


class Pieces(Counting):
    """One that takes pieces."""

    piece = PIECE


def worker_of(game, **changes):
    worker = SelfPlay(game, tiny(**changes)).workers[0]
    return worker, worker._take_games(deque(jobs(worker.trees)))


@pytest.mark.parametrize("name", ["connect4", "corridor", "tictactoe"])
@pytest.mark.parametrize("threads", [1, 2])
def test_games_are_the_same_in_pieces_and_padding_is_rare(name, threads):
    game, found, networks = GAMES[name], [], (Counting(GAMES[name]), Pieces(GAMES[name]))
    for network in networks:
        selfplay = SelfPlay(game, tiny(games_in_flight=threads * TREES, cache_size=0), threads=threads)
        found.append({r.index: r for r in selfplay.play(network, jobs(80), together=lambda: True)})
        assert sorted(found[-1]) == list(range(80))
    for i, record in found[0].items():
        other = found[1][i]
        assert record.result == other.result and np.array_equal(record.moves, other.moves), i
        assert np.array_equal(record.visits, other.visits) and np.array_equal(record.values, other.values)
    padding = [int((-np.array(network.counts) % PIECE).sum()) for network in networks]
    if threads == 1:  # which of two threads plays which games, and so how often it asks, is chance
        assert padding[1] < 0.6 * padding[0]


@pytest.mark.parametrize(
    "n, piece, expected",
    [(100, 0, 100), (31, 32, 31), (32, 32, 32), (33, 32, 32), (64, 32, 32), (96, 32, 64), (128, 32, 96),
     (256, 32, 160), (5, 4, 4), (6, 4, 4), (10, 4, 8), (1, 1, 1), (3, 1, 2)])  # fmt: skip
def test_how_many_questions_are_asked_at_once(n, piece, expected):
    assert call(request_size, n, piece) == expected


def test_never_more_than_there_are_and_always_some():
    for piece in range(1, 40):
        asked = [call(request_size, n, piece) for n in range(1, 300)]
        assert all(min(n, piece) <= a <= n and (a == n or a % piece == 0) for n, a in enumerate(asked, 1))


def test_once_games_run_out_those_with_fewest_plies_are_asked_first_and_all_end():
    game = GAMES["connect4"]
    worker, starts = worker_of(game, games_in_flight=TREES, cache_size=0, random_opening_share=0.5,
                               random_opening_plies=8)  # fmt: skip
    answers, ply, n, chosen = Projection(game), worker._flight.ply, 0, 0
    running = set(range(worker.trees))
    while running:
        n, over = worker.step(n, starts, PIECE)
        starts = 0
        running -= set(worker._flight.over[:over].tolist())
        asked, waiting = worker._requested[:n].tolist(), worker._requested[n : n + worker._waiting].tolist()
        assert set(asked) | set(waiting) == running and len(asked) + len(waiting) == len(running)
        if not running:
            break
        assert n >= min(len(running), PIECE) and (not waiting or n % PIECE == 0)
        if waiting:
            chosen += 1
            assert ply[asked].max() <= ply[waiting].min()
        planes = worker._planes[:n].reshape(n, *game.input_shape)
        expected = [game.state_of(worker.mcts.forest.rows[worker.mcts.forest.slots["leaf"][t] + t].copy()).planes()
                    for t in asked]  # fmt: skip
        assert np.array_equal(planes, expected), "each question is that of its tree"
        worker._values[:n], worker._logits[:n] = answers(planes)
    assert chosen > 20 and len(worker._done) == TREES


def test_all_are_asked_while_there_are_games_to_begin():
    game, todo, full = GAMES["connect4"], deque(jobs(80)), []

    class Watching(Pieces):
        def __call__(self, planes):
            if todo:
                full.append(len(planes) >= TREES - 3)  # in one step some games end, whose trees then begin others
            return super().__call__(planes)

    network = Watching(game)
    list(SelfPlay(game, tiny(games_in_flight=TREES, cache_size=0)).play(network, todo, together=lambda: True))
    assert len(full) > 50 and all(full) and min(network.counts[: len(full) + 40]) < TREES - 3


def test_games_that_are_to_end_soon_because_of_a_stop_all_go_on():
    """Those nearly over would wait for the others, and be lost when there is no more time."""
    game, stopped, asked = GAMES["connect4"], [], {True: [], False: []}
    network = Pieces(game)
    here = LocalPool(SelfPlay(game, tiny(games_in_flight=TREES, cache_size=0)), lambda version: watched)

    def watched(planes):
        worker = here._selfplay.workers[0]
        asked[bool(stopped)].append(worker._waiting)
        return network(planes)

    watched.piece = PIECE
    order = RoundSpec("run", 1, 0, "", "")
    found = []
    for record in here.play(order, range(TREES), stop=lambda: bool(stopped)):
        found.append(record)
        if not stopped and max(asked[False]) > 2:
            stopped.append(True)
    assert len(found) == TREES and max(asked[False]) > 2 and not any(asked[True][2:])


def test_what_waits_when_self_play_is_cut_short_is_forgotten():
    game = GAMES["connect4"]
    selfplay = SelfPlay(game, tiny(games_in_flight=TREES, cache_size=0))
    network = Pieces(game)

    def waits():
        return selfplay.workers[0]._waiting > 2

    list(selfplay.play(network, jobs(TREES), stop=waits, together=lambda: True))
    assert selfplay.workers[0]._waiting > 2
    again = {r.index: r for r in selfplay.play(network, jobs(TREES), together=lambda: True)}
    fresh = {r.index: r for r in SelfPlay(game, tiny(games_in_flight=TREES, cache_size=0)).play(network, jobs(TREES))}
    assert sorted(again) == sorted(fresh) == list(range(TREES))
    assert all(np.array_equal(again[i].visits, fresh[i].visits) for i in again)


def test_compiled_batches_hold_any_number_of_questions_with_less_padding_than_a_piece():
    for count in range(1, 4000):
        sizes = pieces(count)
        assert set(sizes) <= set(BATCHES) and list(sizes) == sorted(sizes, reverse=True)
        assert count <= sum(sizes) <= (padded(count) if count <= STEADY else count + STEADY - 1)
        assert count <= STEADY or min(sizes) >= STEADY, "smaller batches add up in another order"
