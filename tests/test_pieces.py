"""What a network that takes questions in pieces is asked: whole pieces, for the games first that have most to go."""

from collections import deque

import numpy as np
import pytest

from backends import BATCHES, STEADY, openvino_installed, padded
from searching import GAMES, Projection
from selfplay import SelfPlay, game_seed
from tiny import tiny

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


def jobs(count):
    return [(i, game_seed("run", 1, i)) for i in range(count)]


def worker_of(game, **changes):
    worker = SelfPlay(game, tiny(**changes)).workers[0]
    return worker, worker._take_games(deque(jobs(worker.trees)))


def test_games_are_the_same_in_pieces_and_padding_is_rare():
    for name in ("connect4", "corridor", "tictactoe"):
        game, found, networks = GAMES[name], [], (Counting(GAMES[name]), Pieces(GAMES[name]))
        for network in networks:
            selfplay = SelfPlay(game, tiny(games_in_flight=TREES, cache_size=0))
            found.append({r.index: r for r in selfplay.play(network, jobs(80))})
            assert sorted(found[-1]) == list(range(80))
        for i, record in found[0].items():
            other = found[1][i]
            assert record.result == other.result and np.array_equal(record.moves, other.moves), (name, i)
            assert np.array_equal(record.visits, other.visits) and np.array_equal(record.values, other.values)
        counts = [np.array(network.counts) for network in networks]
        assert counts[0].sum() == pytest.approx(counts[1].sum(), rel=0.01), "the cache knows at least one position"
        padding = [int((-some % PIECE).sum()) for some in counts]
        assert padding[1] < 0.8 * padding[0], (name, padding)


def test_once_games_run_out_those_with_fewest_plies_are_asked_first_and_all_end():
    game = GAMES["connect4"]
    worker, starts = worker_of(game, games_in_flight=TREES, cache_size=0, random_opening_share=0.5,
                               random_opening_plies=8)  # fmt: skip
    answers, ply, n, chosen = Projection(game), worker._table.ply, 0, 0
    running = set(range(worker.trees))
    while running:
        n, over = worker.step(n, starts, PIECE)
        starts = 0
        running -= set(worker._table.over[:over].tolist())
        asked, waiting = worker._asked[:n].tolist(), worker._asked[n : n + worker._waiting].tolist()
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
    assert chosen > 20 and len(worker._ended) == TREES


@pytest.mark.parametrize("piece", [0, 5])
def test_all_are_asked_while_no_tree_is_without_a_game(piece):
    worker, starts = worker_of(GAMES["connect4"], games_in_flight=TREES)
    assert worker.step(0, starts, piece)[0] == TREES and worker._waiting == 0


def test_what_waits_when_self_play_is_cut_short_is_forgotten():
    game = GAMES["connect4"]
    selfplay = SelfPlay(game, tiny(games_in_flight=TREES, cache_size=0))
    network = Pieces(game)
    list(selfplay.play(network, jobs(TREES), stop=lambda: selfplay.workers[0]._waiting > 2))
    assert selfplay.workers[0]._waiting > 2
    again = {r.index: r for r in selfplay.play(network, jobs(TREES))}
    fresh = {r.index: r for r in SelfPlay(game, tiny(games_in_flight=TREES, cache_size=0)).play(network, jobs(TREES))}
    assert sorted(again) == sorted(fresh) == list(range(TREES))
    assert all(np.array_equal(again[i].visits, fresh[i].visits) for i in again)


@pytest.mark.skipif(not openvino_installed(), reason="openvino is not made for every platform")
def test_compiled_batches_hold_any_number_of_questions_with_less_padding_than_a_piece():
    from backends.openvino_cpu import OpenVINOPredictor, _pieces

    assert OpenVINOPredictor.piece == STEADY
    for count in range(1, 4000):
        sizes = _pieces(count)
        assert set(sizes) <= set(BATCHES) and list(sizes) == sorted(sizes, reverse=True)
        assert count <= sum(sizes) <= (padded(count) if count <= STEADY else count + STEADY - 1)
        assert count <= STEADY or min(sizes) >= STEADY, "smaller batches add up in another order"
