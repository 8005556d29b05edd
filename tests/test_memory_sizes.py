"""A memory of games on boards of several sizes: each position teaches what it teaches on a board of its own."""

import numpy as np
import pytest

import games
from games.sizes import OUTSIDE, Frame
from memory import ILLEGAL, Memory
from support.unsearched_games import random_record

GAMES = "gomoku(size=5..7)", "go(size=3..5)", "connect4(rows=4..5,columns=4..6)"


def records(game, seed=0):
    """Return a game on each board."""
    rng = np.random.default_rng(seed)
    found = [random_record(each, rng)._replace(board=each.spec) for each in game.sizes]
    return [record._replace(index=index) for index, record in enumerate(found)]


@pytest.mark.parametrize("spec", GAMES)
def test_a_position_of_a_small_board_teaches_what_it_does_alone(spec):
    game = games.make(spec)
    frame, owned = Frame(game), game.start().owners is not None
    memory = Memory(game, 1000, ownership=owned, masked=True)
    for number, record in enumerate(records(game)):
        one = game.sizes[number]
        alone, high, wide = Memory(one, 1000, ownership=owned, masked=True), *one.grid_shape
        mine, theirs = memory.positions(record), alone.positions(record._replace(board=""))
        assert (mine.size == number).all() and len(mine.result) == len(theirs.result) > 0
        for form in range(1 + len(one.symmetries)):
            forms = np.full(len(mine.result), form)
            large, small = memory.batch(mine, forms, 0.3), alone.batch(theirs, forms, 0.3)
            assert (large.planes[:, :high, :wide] == small.planes).all() and (small.planes[..., -1] == 1).all()
            assert large.planes.sum() == small.planes.sum(), "nothing lies outside, the plane that says so included"
            assert (large.value == small.value).all()
            places = frame.visits(number, np.arange(one.action_size)[None], 60000)[0]
            assert large.policy[:, places == 60000].size == 0 or (large.policy[:, places == 60000] == ILLEGAL).all()
            known = np.argsort(places)[: one.action_size]
            assert (large.policy[:, known] == small.policy).all()
            if owned:
                assert (large.owners[:, :high, :wide] == small.owners).all()
                assert (large.owners == OUTSIDE).sum() == len(forms) * (np.prod(game.grid_shape) - high * wide)


def test_batches_hold_all_sizes_each_in_its_own_symmetries_and_alike_positions_share_a_weight():
    game = games.make("gomoku(size=5..7)")
    memory, twice = Memory(game, 1000, masked=True), records(game)
    assert memory.extend(twice + twice) == len(memory)
    batch = memory.sample(300, np.random.default_rng(1), duplicate_weight="log")
    sizes = batch.planes[..., -1].sum(axis=(1, 2))
    assert set(sizes.tolist()) == {25, 36, 49} and batch.planes.shape == (300, 7, 7, 6)
    assert batch.policy.shape == (300, 49)
    shares = np.where(batch.policy == ILLEGAL, 0, batch.policy).sum(axis=1)
    assert shares.mean() == pytest.approx(1.0)
    keys = memory._draw._keys[: len(memory)]
    half = len(keys) // 2
    assert (keys[:half] == keys[half:]).all(), "the same positions, by their keys"
    number = memory.ltmemory.size[:half]
    assert not set(keys[:half][number == 0]) & set(keys[:half][number == 1])


def test_games_of_a_size_that_a_run_no_longer_plays_are_left_out():
    game = games.make("gomoku(size=5..7)")
    found = records(game)
    memory = Memory(games.make("gomoku(size=6..7)"), 1000, masked=True)
    assert 0 < memory.extend(found) == sum(len(Memory(game, 99).positions(r).result) for r in found[1:])
    assert memory.extend(found[:1]) == 0
