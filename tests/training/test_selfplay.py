"""Self-play: games follow from their seeds alone, are legal, record full searches, leave nothing behind."""

import time
from collections import deque

import numpy as np
import pytest

import games
from compiled import bind
from loggers import MEGABYTE
from network.predictor import side_by_side
from search.tables import UNVISITED
from support.corridor import Corridor
from support.search_cases import GAMES, Projection, walk
from support.tiny_runs import jobs, left_behind, tiny
from training.selfplay import SelfPlay, game_seed
from training.selfplay_step import budgets, end_move
from training.worker_pool import LocalPool, RoundSpec


def played(game, count=30, *, threads=1, predictor=None, games=None, **changes):
    """Return the records of games, by index."""
    selfplay = SelfPlay(game, tiny(**changes), threads=threads)
    records = list(selfplay.play(predictor or Projection(game), games or jobs(count)))
    assert sorted(r.index for r in records) == [i for i, _ in games or jobs(count)]
    return sorted(records, key=lambda r: r.index)


def same(one, other):
    return one.index == other.index and one.result == other.result and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("moves", "visits", "values")
    )  # fmt: skip


# ---- a game depends on its seed and the network alone


@pytest.mark.parametrize("name", GAMES)
def test_the_same_seeds_give_the_same_games_however_many_run_beside_them(name):
    game, count = GAMES[name], 12 if name == "corridor" else 40
    random = {"random_opening_share": 0.5, "random_opening_plies": 3}
    expected = played(game, count, **random)
    ways = [{"threads": 2}, {"games_in_flight": 4}, {"games_in_flight": 1}, {"games_in_flight": 64, "threads": 3},
            {"cache_size": 0}, {"cache_size": 7}]  # fmt: skip
    for way in ways:
        assert all(map(same, expected, played(game, count, **random, **way))), way


def test_a_game_is_the_same_whichever_other_games_are_asked_for():
    game = GAMES["connect4"]
    expected = played(game, 20)
    some = played(game, games=jobs(20)[5:9])
    assert all(map(same, expected[5:9], some))
    backwards = list(SelfPlay(game, tiny()).play(Projection(game), jobs(20)[::-1]))
    assert all(map(same, expected, sorted(backwards, key=lambda r: r.index)))


@pytest.mark.parametrize("name", GAMES)
def test_different_seeds_give_different_games(name):
    game = GAMES[name]
    mine, others = played(game, 12), played(game, games=jobs(12, "another run"))
    assert not any(map(same, mine, others))
    assert len({r.moves.tobytes() for r in mine}) > 6


def test_a_seed_follows_from_run_iteration_and_index():
    seeds = [
        game_seed(run, iteration, index) for run in "ab" for iteration in range(20) for index in range(20)
    ]
    assert len(set(seeds)) == 800 and all(0 <= seed < 2**64 for seed in seeds)
    assert game_seed("a", 1, 12) == game_seed("a", 1, 12) != game_seed("a", 11, 2)


def test_the_network_decides_the_games():
    game = GAMES["connect4"]
    one, other = played(game, 10), played(game, 10, predictor=Projection(game, seed=1))
    assert not all(map(same, one, other))


def test_after_the_cache_is_cleared_games_are_those_of_the_new_network():
    game = GAMES["tictactoe"]
    selfplay = SelfPlay(game, tiny(cache_size=1 << 22))
    old, new = Projection(game), Projection(game, seed=1)
    first = sorted(selfplay.play(old, jobs(10)), key=lambda r: r.index)
    asked = new.rows
    kept = sorted(selfplay.play(new, jobs(10)), key=lambda r: r.index)
    assert all(map(same, first, kept)) and new.rows == asked, "every position is remembered"
    selfplay.clear_cache()
    found = sorted(selfplay.play(new, jobs(10)), key=lambda r: r.index)
    assert all(map(same, found, played(game, 10, predictor=Projection(game, seed=1))))
    assert not all(map(same, found, first))


# ---- what a game is, and what is recorded


@pytest.mark.parametrize("name", GAMES)
def test_games_follow_the_rules_to_their_end_and_the_result_is_right(name):
    game, results = GAMES[name], set()
    for record in played(game, 40, proofs=False):
        assert len(record.moves) == len(record.visits) == len(record.values) <= game.max_plies
        for state, move, _, value in walk(game, record):
            assert move in state.allowedActions and -1 <= value <= 1
        state = state.takeAction(move)[0]
        assert state.isEndGame and record.result == state.value * state.playerTurn, f"\n{state}"
        results.add(np.sign(record.result))
    assert results >= {1.0, -1.0}


@pytest.mark.parametrize("name", GAMES)
def test_a_search_in_full_counts_its_visits_over_legal_moves_and_plays_a_visited_one(name):
    game = GAMES[name]
    recorded = moves = 0
    for record in played(game, full_search_share=0.5, mcts_sims=20, proofs=False):
        for state, move, visits, _ in walk(game, record):
            moves += 1
            if not visits.any():
                continue
            recorded += 1
            assert set(np.flatnonzero(visits)) <= set(state.allowedActions)
            if len(state.allowedActions) > 1:
                assert visits.sum() == 20, "those kept from the last move are among them"
            assert visits[move] > 0
    assert 0.35 < recorded / moves < 0.6


@pytest.mark.parametrize("look_ahead, asked", [(0, True), (1, True), (2, False)])
def test_forced_moves_are_recorded_where_the_network_is_asked_for_such_positions(look_ahead, asked):
    game, forced = GAMES["tictactoe"], 0
    for record in played(game, 60, full_search_share=1.0, look_ahead=look_ahead):
        for state, _, visits, _ in walk(game, record):
            count = len(state.allowedActions)
            assert visits.any() == (count > 1 or asked)
            forced += count == 1
    assert forced > 0


def test_a_pass_that_nobody_chose_is_learned_from():
    game, passes = games.make("othello(size=4)"), 0
    for record in played(game, 60, full_search_share=1.0):
        for state, move, visits, _ in walk(game, record):
            if state.allowedActions == [16]:
                assert visits[move] > 0 and np.count_nonzero(visits) == 1
                passes += 1
    assert passes > 0


def test_the_most_visited_move_is_played_once_tau_is_0():
    best = {True: [], False: []}
    for record in played(GAMES["connect4"], 40, full_search_share=1.0, turns_until_tau0=5, mcts_sims=30):
        for ply, (_, move, visits, _) in enumerate(walk(GAMES["connect4"], record)):
            if visits.any():
                best[ply < 5].append(visits[move] == visits.max())
    assert all(best[False]) and not all(best[True])
    assert np.mean(best[True]) < 0.9


def test_noise_changes_full_searches_and_nothing_before_the_first_of_them():
    game = GAMES["connect4"]
    quiet, noisy = (played(game, 40, full_search_share=0.3, epsilon=epsilon) for epsilon in (0.0, 1.0))
    changed = fast = 0
    for one, other in zip(quiet, noisy, strict=True):
        full = one.visits.any(axis=1)
        first = int(full.argmax()) if full.any() else len(full)
        fast += first
        assert (one.moves[:first] == other.moves[:first]).all()
        assert (one.values[:first] == other.values[:first]).all()
        changed += first < len(full) and not (one.visits[first] == other.visits[first]).all()
    assert fast > 20, "fast searches came first in some games"
    assert changed > 20


def test_full_searches_are_the_share_of_moves_that_is_asked_for():
    for share in (0.1, 0.5, 0.9):
        flags = np.concatenate(
            [r.visits.any(axis=1) for r in played(GAMES["connect4"], 60, full_search_share=share)]
        )
        assert flags.mean() == pytest.approx(share, abs=4 * (share * (1 - share) / len(flags)) ** 0.5)


def test_work_is_counted():
    game = GAMES["connect4"]
    selfplay, predictor = SelfPlay(game, tiny(), threads=2), Projection(game)
    assert selfplay.counts().simulations == 0
    records = list(selfplay.play(predictor, jobs(30)))
    counts = selfplay.counts()
    assert counts.evaluations == counts.looked_up - counts.found and counts.found > 0
    visits = sum(int(n) for r in records for n in r.visits.sum(axis=1) if n < 9_000)  # else priors of a lost position
    assert counts.simulations >= visits / 2 > 0
    assert counts.looked_up <= counts.simulations
    assert counts.evaluations <= counts.batches * counts.room and counts.room == 32


# ---- beginnings and ends


@pytest.mark.parametrize("threads", [1, 2])
def test_a_stop_ends_self_play_early_and_it_can_play_on_afterwards(threads):
    game = GAMES["connect4"]
    selfplay, found, answers = SelfPlay(game, tiny(), threads=threads), [], Projection(game)

    stop = {"stop": lambda: len(found) >= 5}  # games are handed out some at a time
    for record in selfplay.play(lambda planes: (time.sleep(0.01), answers(planes))[1], jobs(60), **stop):
        found.append(record)
    assert 5 <= len(found) < 60
    expected = played(game, 60)
    assert all(same(record, expected[record.index]) for record in found)
    rest = list(selfplay.play(answers, [job for job in jobs(60) if job[0] not in {r.index for r in found}]))
    assert all(map(same, expected, sorted(found + rest, key=lambda r: r.index)))


def test_leaving_the_loop_ends_the_threads():
    import threading

    game, before = GAMES["connect4"], threading.active_count()
    selfplay = SelfPlay(game, tiny(), threads=2)
    for _ in selfplay.play(Projection(game), jobs(10_000)):
        break
    assert threading.active_count() == before


@pytest.mark.parametrize("error", [RuntimeError("no device"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_the_network_comes_out_and_self_play_can_go_on(error, threads):
    game = GAMES["tictactoe"]
    selfplay, predictor = SelfPlay(game, tiny(), threads=threads), Projection(game)

    def failing(planes):
        if predictor.rows > 100:
            raise error
        return predictor(planes)

    with pytest.raises(type(error)):
        list(selfplay.play(failing, jobs(200)))
    found = sorted(selfplay.play(Projection(game), jobs(20)), key=lambda r: r.index)
    assert all(map(same, found, played(game, 20)))


def test_answers_that_are_no_numbers_are_refused():
    game = GAMES["tictactoe"]
    predictor = Projection(game)

    def broken(planes):
        values, logits = predictor(planes)
        return (np.where(predictor.rows > 50, np.nan, values).astype(np.float32), logits)

    with pytest.raises(ArithmeticError):
        list(SelfPlay(game, tiny()).play(broken, jobs(50)))


def test_no_games_asked_for_are_no_games():
    game = GAMES["tictactoe"]
    assert list(SelfPlay(game, tiny(), threads=2).play(Projection(game), [])) == []
    assert len(list(SelfPlay(game, tiny(games_in_flight=64), threads=2).play(Projection(game), jobs(3)))) == 3


# ---- memory


def test_a_thousand_games_leave_no_memory_behind():
    game = GAMES["tictactoe"]
    selfplay, predictor = SelfPlay(game, tiny(), threads=2), Projection(game)

    def play(games):
        for _ in selfplay.play(predictor, jobs(games, "a run")):
            pass

    play(200)
    assert left_behind(lambda: play(1000), MEGABYTE) < MEGABYTE


def test_a_plain_game_forgets_the_positions_of_finished_games():
    game, most, first = Corridor(), [], []
    selfplay, predictor = SelfPlay(game, tiny(games_in_flight=4, cache_size=0)), Projection(game)

    def watched(planes):
        game._room = min(game._room, 500)  # otherwise it waits for ten thousand positions
        most.append(len(game))
        return predictor(planes)

    for record in selfplay.play(watched, jobs(300)):
        first.append(record)
    assert game._next > 2500, "so many positions were met"
    assert max(most) < 1000
    assert all(map(same, sorted(first, key=lambda r: r.index), played(Corridor(), 300))), (
        "and nothing else changed"
    )


def test_a_share_of_games_begins_with_random_moves_that_are_not_trained_on():
    game = GAMES["connect4"]
    records = played(game, 200, random_opening_share=0.5, random_opening_plies=6, full_search_share=1.0)
    lengths = []
    for record in records:
        searched = record.visits.any(axis=1)
        lengths.append(int(np.argmax(searched)))
        assert not record.visits[: lengths[-1]].any() and not record.values[: lengths[-1]].any()
        list(walk(game, record))
    begun = sum(length > 0 for length in lengths)
    assert 70 <= begun <= 130 and max(lengths) == 6
    assert all(lengths.count(n) > 5 for n in range(1, 7))
    openings = {tuple(r.moves[:n]) for r, n in zip(records, lengths, strict=True) if n}
    assert len(openings) > 40


def test_the_first_search_after_random_moves_is_full_where_asked_for_and_no_other():
    game = GAMES["connect4"]
    settings = {"full_search_share": 0.01, "random_opening_plies": 6, "full_after_opening": True}

    def firsts(**changes):
        records = played(game, 60, **{**settings, **changes})
        return [record.visits[np.flatnonzero(record.values)[0]].any() for record in records], records

    taught, records = firsts(random_opening_share=1.0)
    assert np.mean(taught) > 0.95, "all but where one move is left"
    assert sum(record.visits.any(axis=1).sum() for record in records) < 2 * len(records)
    assert not any(firsts(random_opening_share=0.0)[0][:5])
    assert np.mean(firsts(random_opening_share=1.0, full_after_opening=False)[0]) < 0.1


def test_searches_grow_over_the_first_iterations_where_asked_for():
    game = GAMES["connect4"]
    selfplay = SelfPlay(game, tiny(full_search_share=1.0, mcts_sims=40, fast_sims=8, grow_sims=3, proofs=False))

    def longest(iteration):
        order = RoundSpec("run", iteration, 0, "", "")
        records = list(LocalPool(selfplay, lambda version: Projection(game)).play(order, range(5)))
        return max(record.visits.sum(axis=1, dtype=int).max() for record in records)

    assert [longest(i) for i in (4, 1, 2, 3, 9)] == [40, 10, 20, 30, 40]
    assert [budgets(tiny(mcts_sims=40, fast_sims=8, grow_sims=3), i) for i in (1, 2, 4)] == [(10, 2), (20, 4), (40, 8)]
    assert budgets(tiny(mcts_sims=1, fast_sims=1, grow_sims=50), 1) == (1, 1)


def test_each_thread_has_as_many_games_as_a_batch_holds():
    game, plain = games.make("connect4"), Corridor()
    shares = {
        (256, 2): (128, 2),
        (256, 3): (128, 3),
        (256, 6): (64, 6),
        (256, 12): (32, 12),
        (256, 16): (32, 16),
        (128, 6): (32, 6),
        (30, 2): (32, 2),
        (4, 8): (32, 8),
        (1, 1): (32, 1),
        (2048, 1): (2048, 1),
    }
    for (asked, threads), expected in shares.items():
        assert side_by_side(game, tiny(games_in_flight=asked), threads) == expected, (asked, threads)
    assert side_by_side(plain, tiny(games_in_flight=100), 8) == (128, 1), "plain Python runs in one thread"


def test_a_thread_without_games_waits_for_those_that_are_added():
    game, todo = games.make("tictactoe"), deque(jobs(1))
    answers = Projection(game)

    def slow(planes):
        if not added:
            time.sleep(0.2)  # long enough for the other thread to find nothing
            added.append(1)
            todo.extend(jobs(41)[1:])
        time.sleep(0.001)
        return answers(planes)

    added, selfplay = [], SelfPlay(game, tiny(games_in_flight=4, cache_size=0), threads=2)
    found = [record.index for record in selfplay.play(slow, todo)]
    assert sorted(found) == list(range(41))
    assert all(worker.evaluations > 20 for worker in selfplay.workers), "both threads played"


@pytest.mark.parametrize("name", ["connect4", "go(size=4)"])
def test_a_move_that_finds_the_tree_full_begins_a_new_one_with_the_position_after_it(name):
    game = games.make(name)
    worker = SelfPlay(game, tiny(games_in_flight=2, cache_size=0, look_ahead=0)).workers[0]
    answers, forest, n = Projection(game), worker.mcts.forest, 0
    starts = worker._take_games(deque(jobs(2)))
    def step(n, starts=0):
        n, _ = worker.step(n, starts)
        asked = worker._planes[:n].reshape(n, *game.input_shape)
        worker._values[:n], worker._logits[:n] = answers(asked) if n else (0, 0)
        return n

    for i in range(8):
        n = step(n, starts if i == 0 else 0)
    capacity, room = len(forest.nodes) // len(forest.trees), len(forest.table) // len(forest.trees)
    for t in (0, 1):  # no child of the root is known, and there is no place for one
        root = forest.nodes[forest.trees["root"][t]]
        forest.edges["child"][root["first"] : root["first"] + root["materialised"]] = UNVISITED
        forest.table[t * room : (t + 1) * room] = UNVISITED
        forest.trees["nodes"][t] = capacity
        row, ply = forest.rows[forest.trees["root"][t] + t].copy(), int(worker._flight.ply[t])
        arguments = forest, worker.mcts.rules, worker.mcts.puct, worker._flight, worker._settings, t
        bind(end_move, *arguments)(*arguments)
        game.rules.play(row, int(worker._flight.moves[worker._flight.buffer[t], ply]))
        assert np.array_equal(forest.rows[t * (capacity + 1)], row) and worker._flight.ply[t] == ply + 1
        assert forest.trees["nodes"][t] == 1
    while len(worker._done) < 2:
        n = step(n)
    assert all(state.takeAction(move) for r in worker._collect() for state, move, *_ in walk(game, r))
