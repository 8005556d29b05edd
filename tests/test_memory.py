"""What is learnt from: positions of finished games, their targets, symmetries, the disk."""

import numpy as np
import pytest

import games
from memory import ILLEGAL, Memory
from storage.atomic_files import DamagedData
from storage.game_record import GameRecord
from storage.run_store import Store
from support.corridor import Corridor, CorridorState
from support.search_cases import GAMES
from support.unsearched_games import random_record


class Failing(Corridor):
    """Corridor whose positions know no legal moves once three stones stand, as long as it is armed."""

    class state_class(CorridorState):  # noqa: N801
        @property
        def allowedActions(self):
            if self.game.armed and sum(map(abs, self.cells)) == 3:
                raise ZeroDivisionError("in a rule")
            return super().allowedActions

    armed = True


def as_they_are(memory, record):
    positions = memory.positions(record)
    return memory.batch(positions, np.zeros(len(positions.result), int))


def states_of(game, record):
    """Return the position before each move."""
    states = [game.start()]
    for action in record.moves[:-1]:
        states.append(states[-1].takeAction(int(action))[0])
    return states


# ---- from a game to positions


def test_a_game_of_which_no_position_is_kept_gives_none():
    game = games.make("tictactoe")
    record = random_record(game, np.random.default_rng(3), share=0.0)
    assert not record.visits.any()
    memory = Memory(game, 100)
    assert memory.extend([record]) == 0 and len(memory) == 0 and memory.positions(record).planes.shape[0] == 0


@pytest.mark.parametrize("name", GAMES)
def test_positions_of_a_game_are_those_that_playing_it_gives(name):
    game, rng = GAMES[name], np.random.default_rng(1)
    memory, again = Memory(game, 1000), 0
    for _ in range(20):
        record = random_record(game, rng, share=0.6)
        batch = as_they_are(memory, record)
        searched = [(s, v) for s, v in zip(states_of(game, record), record.visits, strict=True) if v.any()]
        assert len(batch.value) == len(searched)
        for (state, counts), planes, value, policy in zip(searched, *batch[:3], strict=True):
            assert (planes == state.planes()).all(), f"\n{state}"
            assert np.flatnonzero(policy != ILLEGAL).tolist() == list(state.allowedActions), f"\n{state}"
            assert value == pytest.approx(record.result * state.playerTurn), f"\n{state}"
            legal = list(state.allowedActions)
            assert policy[legal] == pytest.approx(counts[legal] / counts.sum(), abs=1e-6)
        turns = [state.playerTurn for state in states_of(game, record)]
        again += sum(a == b for a, b in zip(turns, turns[1:], strict=False))
    assert (again > 0) == (name == "corridor"), "only there a player moves twice in a row"


def test_results_of_every_kind_are_learnt_from_the_side_of_the_player_to_move():
    game, rng = GAMES["corridor"], np.random.default_rng(2)
    found = set()
    for _ in range(40):
        record = random_record(game, rng)
        values = as_they_are(Memory(game, 100), record).value
        assert set(np.abs(values)) == {abs(np.float32(record.result))}
        found.add(record.result)
    assert {0.0, 0.25, -0.25} <= found


@pytest.mark.parametrize("name", ["connect4", "corridor"])
@pytest.mark.parametrize("decay", [0.0, 0.7, 1.0])
def test_with_lambda_the_result_gives_way_to_what_later_searches_said(name, decay):
    game, rng = GAMES[name], np.random.default_rng(3)
    for _ in range(10):
        record = random_record(game, rng, share=0.6)
        record = record._replace(values=rng.uniform(-1, 1, len(record.moves)).astype(np.float32))
        turns = [state.playerTurn for state in states_of(game, record)]
        said = [turn * value for turn, value in zip(turns, record.values, strict=True)]  # for player 1
        wanted = []
        for ply, turn in enumerate(turns):
            rest = said[ply:]
            mean = (
                sum((1 - decay) * decay**k * value for k, value in enumerate(rest)) + decay ** len(rest) * record.result
            )
            wanted.append(turn * mean)
        searched = record.visits.any(axis=1)
        found = as_they_are(Memory(game, 100, value_lambda=decay), record).value
        np.testing.assert_allclose(found, np.array(wanted)[searched], atol=1e-5)


def test_a_game_without_a_full_search_gives_no_position():
    game = GAMES["tictactoe"]
    memory = Memory(game, 100)
    assert memory.extend([random_record(game, np.random.default_rng(0), share=0.0)]) == 0 == len(memory)
    with pytest.raises(ValueError, match="expected positions"):
        memory.sample(1, np.random.default_rng(0))


def test_the_target_is_the_share_of_visits_whatever_move_was_played():
    game = GAMES["connect4"]
    visits = np.zeros((7, 7), np.uint16)
    visits[0] = [1, 2, 3, 10, 4, 0, 0]
    targets = []
    for first in (0, 3, 6):
        moves = np.array([first, 1, 2, 1, 2, 1, 2], np.int16)
        record = GameRecord(0, moves, visits, np.zeros(7, np.float32), 0.0)
        targets.append(as_they_are(Memory(game, 10), record).policy)
    for target in targets:
        assert target.shape == (1, 7) and target[0] == pytest.approx(np.array([1, 2, 3, 10, 4, 0, 0]) / 20)
    assert (targets[0][0, 5:] == 0).all(), "legal and unvisited: 0, not ILLEGAL"


def test_a_full_column_is_marked_illegal():
    game = GAMES["connect4"]
    visits = np.zeros((7, 7), np.uint16)
    visits[6] = [0, 5, 0, 0, 0, 0, 5]
    record = GameRecord(0, np.array([0] * 6 + [1], np.int16), visits, np.zeros(7, np.float32), 0.0)
    (policy,) = as_they_are(Memory(game, 10), record).policy
    assert policy.tolist() == [ILLEGAL, 0.5, 0, 0, 0, 0, 0.5]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("moves", [[1] * 9, [30_000], [-1], [1, 2, -32_768]], ids=str)
def test_a_record_with_moves_that_cannot_be_is_refused(name, moves):
    game = GAMES[name]
    visits = np.ones((len(moves), game.action_size), np.uint16)
    record = GameRecord(0, np.array(moves, np.int16), visits, np.zeros(len(moves), np.float32), 0.0)
    memory = Memory(game, 100)
    with pytest.raises(DamagedData, match="illegal move"):
        memory.extend([record])
    assert len(memory) == 0 and memory.extend([random_record(game, np.random.default_rng(0))]) > 0


def test_a_record_of_another_game_is_refused():
    memory = Memory(GAMES["tictactoe"], 100)
    with pytest.raises(DamagedData, match="expected a game of tictactoe"):
        memory.extend([random_record(GAMES["connect4"], np.random.default_rng(0))])


def test_an_error_in_a_plain_rule_comes_out_when_a_game_is_replayed():
    record = random_record(GAMES["corridor"], np.random.default_rng(0))
    game = Failing()
    with pytest.raises(ZeroDivisionError, match="in a rule"):
        Memory(game, 100).extend([record])
    game.armed = False
    assert Memory(game, 100).extend([record]) == len(record.moves)


# ---- symmetries


@pytest.mark.parametrize("name", GAMES)
def test_a_turned_position_is_the_one_that_the_game_calls_identical(name):
    game = GAMES[name]
    memory, record = Memory(game, 100), random_record(game, np.random.default_rng(3))
    positions = memory.positions(record)
    plain = as_they_are(memory, record)
    for form in range(1 + len(game.symmetries)):
        turned = memory.batch(positions, np.full(len(positions.result), form))
        for i in range(len(positions.result)):
            planes, policy = game.identities(plain.planes[i], plain.policy[i])[form]
            assert (turned.planes[i] == planes).all() and (turned.policy[i] == policy).all()
        assert (turned.value == plain.value).all()


def test_a_sample_takes_every_symmetry_equally_often():
    game = GAMES["tictactoe"]
    memory = Memory(game, 100)
    visits = np.zeros((5, 9), np.uint16)
    visits[1] = [0, 1, 2, 3, 4, 5, 6, 7, 8]
    moves = [game.parse_move(name) for name in ("a3", "b2", "b3", "c1", "c3")]
    memory.extend([GameRecord(0, np.array(moves, np.int16), visits, np.zeros(5, np.float32), 1.0)])
    policies = memory.sample(8000, np.random.default_rng(0)).policy
    forms, counts = np.unique(policies, axis=0, return_counts=True)
    assert len(forms) == 8
    assert ((counts - 1000) ** 2 / 1000).sum() < 24.3, "chi-square with 7 degrees of freedom, 0.1 %"


# ---- what a sample is made of


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_value_target_mixes_the_result_with_the_value_of_the_search(share):
    game = GAMES["corridor"]
    memory, record = (
        Memory(game, 100),
        random_record(GAMES["corridor"], np.random.default_rng(8), first_value=3),
    )
    positions = memory.positions(record)
    value = memory.batch(positions, np.zeros(len(positions.result), int), share).value
    assert value == pytest.approx((1 - share) * positions.result + share * record.values)
    assert (positions.value == record.values).all() and value.dtype == np.float32


def test_a_connect4_position_takes_under_200_bytes():
    memory = Memory(games.make("connect4"), 100)
    assert 42 * 3 + 7 * 2 <= memory.bytes_per_position < 200
    columns = sum(column.nbytes for column in memory.ltmemory)
    assert columns + memory._draw._keys.nbytes == 100 * memory.bytes_per_position


# ---- short-term memory


def test_games_wait_in_stmemory_and_are_committed_in_the_order_of_their_numbers():
    rng, game = np.random.default_rng(9), GAMES["tictactoe"]
    records = [random_record(game, rng, index=i, first_value=100 * i) for i in range(5)]
    windows = []
    for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
        memory = Memory(game, 20)
        for i in order:
            memory.commit_stmemory(records[i])
        assert len(memory) == 0 and len(memory.stmemory) == 5
        assert memory.commit_ltmemory() == sum(len(r.moves) for r in records)
        assert memory.stmemory == [] and memory.commit_ltmemory() == 0
        windows.append(memory)
    for a, b in zip(windows[0].ltmemory, windows[1].ltmemory, strict=True):
        assert (a == b).all()


def test_games_come_all_at_once_or_when_interrupted_not_at_all(monkeypatch):
    rng, game = np.random.default_rng(9), GAMES["tictactoe"]
    memory, whole = Memory(game, 200), Memory.positions
    for i in range(5):
        memory.commit_stmemory(random_record(game, rng, index=i))

    def interrupted(self, record):
        if record.index == 3:
            raise KeyboardInterrupt
        return whole(self, record)

    monkeypatch.setattr(Memory, "positions", interrupted)
    with pytest.raises(KeyboardInterrupt):
        memory.commit_ltmemory()
    assert len(memory) == 0 and len(memory.stmemory) == 5
    monkeypatch.undo()
    assert memory.commit_ltmemory() == len(memory) > 0


def test_cleared_games_are_not_learnt_from():
    memory = Memory(GAMES["tictactoe"], 100)
    memory.commit_stmemory(random_record(GAMES["tictactoe"], np.random.default_rng(0)))
    memory.clear_stmemory()
    assert memory.commit_ltmemory() == 0 == len(memory)


# ---- the disk


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_games_come_back_from_the_disk_as_they_went(name, share, tmp_path):
    game, rng = GAMES[name], np.random.default_rng(10)
    records = [random_record(game, rng, index=i, share=share) for i in range(12)]
    store = Store(tmp_path / "run.db", create=True)
    with store.transaction():
        store.add_games(1, 0, reversed(records))
        store.add_games(1, 0, [r._replace(result=9.0) for r in records[:5]])  # they are there and stay
    store.close()
    store = Store(tmp_path / "run.db", read_only=True)
    found = [record for _, record in store.games(10**6)]
    store.close()
    assert len(found) == 12
    one, other = Memory(game, 500), Memory(game, 500)
    assert one.extend(records) == other.extend(found) == sum(int(r.visits.any(axis=1).sum()) for r in records)
    assert all((a == b).all() for a, b in zip(one.ltmemory, other.ltmemory, strict=True))
    for record, back in zip(records, found, strict=True):
        assert (record.index, record.result) == (back.index, back.result)
        assert (record.moves == back.moves).all() and (record.values == back.values).all()


def test_the_newest_games_that_fill_the_window_are_loaded_in_order(tmp_path):
    game, rng = GAMES["tictactoe"], np.random.default_rng(11)
    store = Store(tmp_path / "run.db", create=True)
    for iteration in range(1, 6):
        store.add_games(iteration, 0, [random_record(game, rng, index=i) for i in range(3)])
    each = [store.trained_positions(i) for i in range(1, 6)]
    assert all(15 <= n <= 27 for n in each)

    def loaded(positions, before=100):
        return [(iteration, record.index) for iteration, record in store.games(positions, before)]

    assert loaded(1) == [(5, 0), (5, 1), (5, 2)]
    assert loaded(each[4] + 1) == [(i, j) for i in (4, 5) for j in range(3)]
    assert loaded(10**6) == [(i, j) for i in range(1, 6) for j in range(3)]
    assert loaded(each[1] + 1, before=3) == [(i, j) for i in (1, 2) for j in range(3)]
    assert loaded(10, before=1) == [] and store.count_games() == 15
    store.close()
