"""Positions that came more than once: which are taken for the same, and how often they are trained on."""

import numpy as np
import pytest

from memory import Memory, SymmetricHash, running_sum
from support.search_cases import GAMES
from support.unsearched_games import random_record


def filled(game, count=30, size=400, seed=3):
    memory, rng = Memory(game, size), np.random.default_rng(seed)
    memory.extend([random_record(game, rng, index=i) for i in range(count)])
    return memory


def forms(game, planes):
    """Return the bytes of a position in the symmetric form whose bytes come first."""
    return min(found.tobytes() for found, _ in game.identities(planes, np.zeros(game.action_size)))


@pytest.mark.parametrize("name", GAMES)
def test_keys_are_equal_for_positions_that_are_alike_up_to_symmetry_and_for_no_others(name):
    game, memory = GAMES[name], filled(GAMES[name], 60, 2000)
    planes = memory.ltmemory.planes[: len(memory)]
    alike = [forms(game, p.reshape(game.input_shape)) for p in planes]
    keys = SymmetricHash(game).keys(planes)
    assert len(set(alike)) < len(alike), "some came twice"
    assert len(set(zip(alike, keys.tolist(), strict=True))) == len(set(alike)) == len(set(keys.tolist()))


def test_a_position_and_its_mirror_image_have_one_key():
    game = GAMES["connect4"]
    left, right = game.start(), game.start()
    for column in (0, 1, 0, 3, 6):
        left, right = left.takeAction(column)[0], right.takeAction(6 - column)[0]
    keys = SymmetricHash(game).keys(np.stack([s.planes().reshape(-1) for s in (left, right, left.takeAction(2)[0])]))
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize(
    ("weight", "expected"), [("log", [0.75, 0.75, 1, 0.75, 1, 0.75]), ("constant", [0.25, 0.25, 1, 0.25, 1, 0.25])]
)
def test_four_of_a_kind_have_the_weight_of_three_or_of_one(weight, expected):
    sums = running_sum(np.array([7, 7, 9, 7, 1, 7], np.uint64), weight)
    assert np.diff(sums, prepend=0) == pytest.approx(expected)


@pytest.mark.parametrize("weight", ["linear", "log", "constant"])
def test_positions_are_drawn_as_often_as_their_weight_says(weight):
    game, memory = GAMES["tictactoe"], filled(GAMES["tictactoe"])
    n = len(memory)
    memory.ltmemory.value[:n] = np.arange(n)  # which is drawn
    alike = [forms(game, memory.ltmemory.planes[i].reshape(game.input_shape)) for i in range(n)]
    times = np.array([alike.count(each) for each in alike])
    chance = {"linear": 1.0, "log": (1 + np.log2(times)) / times, "constant": 1 / times}[weight] * np.ones(n)
    drawn, rng = np.zeros(n), np.random.default_rng(5)
    for _ in range(40):
        found = memory.sample(500, rng, value_from_search=1.0, duplicate_weight=weight).value
        drawn += np.bincount(found.astype(int), minlength=n)
    expected = 20_000 * chance / chance.sum()
    chi = ((drawn - expected) ** 2 / expected).sum()
    assert chi < n + 3.1 * np.sqrt(2 * n)
    assert times.max() > 10


def test_what_is_drawn_follows_from_the_positions_in_the_window_however_they_came():
    game, rng = GAMES["tictactoe"], np.random.default_rng(8)
    records = [random_record(game, rng, index=i) for i in range(60)]
    grown, loaded = Memory(game, 120), Memory(game, 120)
    for i in range(0, 60, 5):  # goes round three times, asked in between
        grown.extend(records[i : i + 5])
        grown.sample(8, np.random.default_rng(0), duplicate_weight="log")
    loaded.extend(records)
    for weight in ("linear", "log", "constant"):
        one, other = (m.sample(200, np.random.default_rng(1), duplicate_weight=weight) for m in (grown, loaded))
        assert all(np.array_equal(a, b) for a, b in zip(one[:3], other[:3], strict=True))
