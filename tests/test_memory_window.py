"""The newest positions, and how batches are drawn from them."""

import numpy as np
import pytest

from memory import Memory
from support.search_cases import GAMES
from support.unsearched_games import random_record


def fill(memory, positions, rng, start=0):
    """Extend a memory until so many positions have come, numbered from `start`; return how many."""
    while start < positions:
        record = random_record(memory.game, rng, first_value=start)
        assert memory.extend([record]) == len(record.moves)
        start += len(record.moves)
    return start


def numbers_of(memory, rng, count=4000):
    return memory.sample(count, rng, value_from_search=1.0).value.astype(int)


def test_new_positions_take_the_place_of_the_oldest():
    memory, rng = Memory(GAMES["tictactoe"], 50), np.random.default_rng(4)
    for goal in (20, 49, 60, 99, 130, 333):
        total = fill(memory, goal, np.random.default_rng(goal))
        assert len(memory) == min(total, 50)
        assert set(numbers_of(memory, rng)) == set(range(max(total - 50, 0), total))
        memory = Memory(GAMES["tictactoe"], 50)


def test_a_game_longer_than_the_window_leaves_its_last_positions():
    game = GAMES["connect4"]
    memory = Memory(game, 16)
    rng = np.random.default_rng(5)
    record = next(r for r in iter(lambda: random_record(game, rng), None) if len(r.moves) > 20)
    memory.extend([record])
    last = len(record.moves)
    assert set(numbers_of(memory, rng)) == set(range(last - 16, last))


@pytest.mark.parametrize("goal", [80, 250])
def test_every_position_of_the_window_is_drawn_equally_often(goal):
    memory = Memory(GAMES["tictactoe"], 100)
    total = fill(memory, goal, np.random.default_rng(6))
    counts = np.bincount(numbers_of(memory, np.random.default_rng(7), 20_000), minlength=total)
    counts = counts[max(total - 100, 0) :]
    expected = 20_000 / len(counts)
    chi = ((counts - expected) ** 2 / expected).sum()
    degrees = len(counts) - 1
    assert chi < degrees + 3.1 * np.sqrt(2 * degrees)


def test_the_same_rng_gives_the_same_sample_and_draws_are_with_replacement():
    memory = Memory(GAMES["tictactoe"], 100)
    fill(memory, 60, np.random.default_rng(6))
    first, same, other = (memory.sample(64, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(first[:3], same[:3], strict=True))
    assert not (first.planes == other.planes).all()
    assert memory.sample(500, np.random.default_rng(0)).planes.shape == (500, 3, 3, 3)


def test_what_is_drawn_follows_from_the_ring_alone():
    """A run that is gone on with has loaded no more than fills it."""
    rng, game = np.random.default_rng(8), GAMES["connect4"]
    records = [random_record(game, rng, index=i, share=0.2 if i < 30 else 0.7) for i in range(60)]
    records = [r._replace(values=np.full(len(r.moves), 0.5, np.float32)) for r in records]
    whole, loaded = Memory(game, 300), Memory(game, 300)
    whole.extend(records)
    assert loaded.extend(records[-25:]) > 300
    one, other = (m.sample(500, np.random.default_rng(1)) for m in (whole, loaded))
    assert all((a == b).all() for a, b in zip(one[:3], other[:3], strict=True))


def test_games_that_are_loaded_keep_no_positions_of_a_game_in_plain_python(monkeypatch):
    game, rng = GAMES["corridor"], np.random.default_rng(5)
    memory = Memory(game, 5000)
    game._room = 100
    memory.extend(random_record(game, rng, index=i) for i in range(300))
    assert len(memory) > 1000 and len(game) < 200
