"""Where past searches were wrong: distances to what the game showed, for the side to move."""

import numpy as np
import pytest

from storage.atomic_files import DamagedData
from storage.game_record import GameRecord
from support.search_cases import GAMES
from support.tiny_runs import tiny
from support.unsearched_games import random_record
from training.search_errors import errors, movers
from training.selfplay import SelfPlay, game_seed
from training.selfplay_step import CERTAIN


def record_of(values, result, full=None):
    visits = np.zeros((len(values), 3), np.uint16)
    visits[range(len(values)) if full is None else full] = 7
    return GameRecord(0, np.zeros(len(values), np.int16), visits, np.array(values, np.float32), result)


def turns_of(game, record):
    turns, state = [], game.start()
    for action in record.moves:
        turns.append(state.playerTurn)
        state = state.takeAction(int(action))[0]
    return turns


def slow_errors(game, record):
    """The same in plain steps: from each ply forward to the first proof, or to the end."""
    turns, found = turns_of(game, record), []
    first = next((p for p in range(len(turns)) if record.visits[p].any() or record.values[p] != 0), len(turns))
    for ply, turn in enumerate(turns):
        said = record.values[ply] * turn
        shown = record.result
        for later in reversed(range(ply, len(turns))):
            if later >= first and abs(record.values[later]) == 1:
                shown = record.values[later] * turns[later]
        found.append(abs(said - shown) / 2 if ply >= first else -1)
    return found


@pytest.mark.parametrize("name", GAMES)
def test_the_player_to_move_at_each_ply_is_the_rules_own(name):
    game, rng = GAMES[name], np.random.default_rng(4)
    for _ in range(20):
        record = random_record(game, rng)
        assert movers(game, record).tolist() == turns_of(game, record)
    with pytest.raises(DamagedData, match="illegal move"):
        movers(game, record._replace(moves=np.append(record.moves[:1], np.int16(-1))))


def test_an_error_is_half_the_distance_to_the_result_for_whoever_is_to_move():
    found = errors(record_of([0.5, 0.5, -1 / 4, 0.0], 1.0), np.array([1, -1, 1, -1]))
    assert found == pytest.approx([0.25, 0.75, 0.625, 0.5])


def test_a_random_opening_has_no_errors_and_a_fast_search_has():
    found = errors(record_of([0.0, 0.0, 0.5, 0.5], -1.0, full=[3]), np.array([1, -1, 1, -1]))
    assert found == pytest.approx([-1, -1, 0.75, 0.25])


def test_a_proof_takes_the_place_of_the_result_for_the_plies_up_to_it():
    found = errors(record_of([0.5, -0.5, 1.0, 0.0], -1.0), np.array([1, -1, 1, -1]))
    assert found == pytest.approx([0.25, 0.25, 0.0, 0.5])


@pytest.mark.parametrize("name", GAMES)
def test_errors_are_those_of_plain_steps(name):
    game, rng = GAMES[name], np.random.default_rng(6)
    for _ in range(30):
        record = random_record(game, rng, share=0.5)
        values = np.round(rng.uniform(-1.2, 1.2, len(record.moves)), 1).clip(-1, 1).astype(np.float32)
        values[: int(rng.integers(3))] = 0.0
        record = record._replace(values=values)
        assert errors(record, movers(game, record)) == pytest.approx(slow_errors(game, record))


def test_only_a_proof_is_stored_as_certain():
    """A network that is sure of the first player's win from the start, to the last bit, as one of few bits may be."""
    game = GAMES["connect4"]

    def sure(planes):
        stones = planes[..., :2].sum(axis=(1, 2, 3))
        return np.where(stones % 2, -1, 1).astype(np.float32), np.zeros((len(planes), game.action_size), np.float32)

    config = tiny(game=game.spec, full_search_share=1.0, random_opening_share=0.0)
    for record in SelfPlay(game, config).play(sure, [(i, game_seed("sure", 1, i)) for i in range(4)]):
        assert record.values[:4].tolist() == [CERTAIN, -CERTAIN, CERTAIN, -CERTAIN] and CERTAIN < 1
