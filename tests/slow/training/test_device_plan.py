"""Self-play on a device plays the same games, within memory, with what its measured speed needs; and says so."""

import re

import numpy as np
import pytest

import games
from compiled import up_to
from games.plain import PlainGame
from initialise import Session
from network.device import Plan, Speed
from network.pipelines import SeveralDevices, pipeline
from network.predictor import side_by_side
from search.tables import GROUP, MAX_EDGES, capacity_for
from support.search_cases import Projection
from support.tiny_runs import QUIET, jobs, tiny
from training import device_plan, stages
from training.device_bench import by_cores
from training.device_plan import MeasuredPlan, bytes_per_game, games_in_memory, measured_plan, search_seconds
from training.estimate import budget_text
from training.selfplay import SelfPlay
from training.work import source_of, work_of

GAME = games.make("tictactoe")


class OnDevice:
    """A predictor as one on a device is."""

    on_device, name = True, "a device"

    def __init__(self, predictor):
        self.predictor = predictor

    def load(self, weights):
        self.predictor.load(weights)

    def __call__(self, planes):
        values, logits = self.predictor(planes)
        return values.copy(), logits.copy()


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("moves", "visits", "values"))


@pytest.fixture
def quick(monkeypatch):
    """A device that is measured at once."""
    monkeypatch.setattr(device_plan, "measure", lambda *_: Speed((128, 512), (0.002, 0.005), (1e5, 2e5), (1e-5, 2e-5)))
    monkeypatch.setattr(device_plan, "search_seconds", lambda *_: 1e-6)


# ---- the games


@pytest.mark.parametrize("plan, devices", [(Plan(3, 32), 1), (Plan(4, 32, 2), 1), (Plan(4, 8, 4), 1),
                                           (Plan(4, 32, 2), 2)])  # fmt: skip
def test_games_are_the_same_with_any_plan(plan, devices):
    game = games.make("connect4")
    expected = {r.index: r for r in SelfPlay(game, tiny()).play(Projection(game), jobs(60))}
    made = [OnDevice(Projection(game)) for _ in range(devices)]
    predictor = pipeline(SeveralDevices(made) if devices > 1 else made[0], joined=plan.joined, games=plan.games)
    selfplay = SelfPlay(game, tiny(), plan=plan)
    for _ in range(2):  # a pipeline is used again
        found = list(selfplay.play(predictor, jobs(60)))
        assert len(found) == 60 and all(same(record, expected[record.index]) for record in found)
    assert selfplay.counts().evaluations > 0
    assert all(device.predictor.rows > 0 for device in made)


def test_an_error_of_a_device_ends_self_play_where_calls_are_put_together():
    def failing(planes):
        raise ZeroDivisionError("the device fails")

    failing.name = "failing"
    predictor = pipeline(failing, joined=2, games=32)
    with pytest.raises(ZeroDivisionError):
        list(SelfPlay(GAME, tiny(), plan=Plan(4, 32, 2)).play(predictor, jobs(500)))


# ---- the plan


def test_a_cpu_keeps_the_settings():
    for config in (tiny(), tiny(games_in_flight=300), tiny(games_on_gpu=9)):
        found = measured_plan(GAME, config, Projection(GAME))
        assert (found.plan.games, found.plan.threads) == side_by_side(GAME, config.selfplay)
        assert found.speed is None and found.words() == found.limit == ""
        assert found.predictor(network := Projection(GAME)) is network


def test_a_device_is_measured_and_told(quick):
    found = measured_plan(GAME, tiny(), OnDevice(Projection(GAME)), endless=True)
    assert found.plan.in_flight > 32 and found.limit == "" and found.search == 1e-6
    assert found.words().startswith("200,000 evaluations/s, ") and f"{found.plan.in_flight:,} games" in found.words()
    assert found.speed.rate == 2e5


def test_no_more_games_are_in_flight_than_an_iteration_has(quick):
    found = measured_plan(GAME, tiny(episodes=200), OnDevice(Projection(GAME)))
    assert found.plan.in_flight <= 200
    assert "would keep it busy, limited by 200 games an iteration (--episodes)" in found.words()


def test_the_number_of_games_can_be_set(quick):
    found = measured_plan(GAME, tiny(episodes=2000, games_on_gpu=256), OnDevice(Projection(GAME)))
    assert 200 < found.plan.in_flight <= 256 and found.limit == ""


def test_a_game_in_plain_python_has_one_thread(quick):
    from support.corridor import Corridor

    game = Corridor()
    assert isinstance(game, PlainGame)
    assert measured_plan(game, tiny(), OnDevice(Projection(game)), endless=True).plan.threads == 1


DEEP = {"game": "connect4", "endgame": 20}
SECONDS = {20: 2.7e-6, 16: 1.3e-6, 12: 0.8e-6, 8: 0.7e-6}
"""Of a core for an evaluation, by how far endings of Connect 4 are solved, nearly as measured."""


CASES = (2, 1e6, 16), (4, 1e6, 20), (2, 2e5, 20), (2, 1.9e6, 12), (2, 1e8, 8), (1, 9e5, 12)


@pytest.mark.parametrize("cores, rate, endgame", CASES)
def test_endings_are_solved_less_far_where_the_cores_are_the_limit(quick, monkeypatch, cores, rate, endgame):
    game = games.make("connect4")
    tried = []

    def seconds(game, config):
        tried.append(config.endgame)
        return SECONDS[config.endgame]

    monkeypatch.setattr(device_plan, "measure", lambda *_: Speed((128,), (128 / rate,), (rate,), (0.0,)))
    monkeypatch.setattr(device_plan, "search_seconds", seconds)
    monkeypatch.setattr(device_plan, "cores", lambda: cores)
    config = tiny(**DEEP)
    found = measured_plan(game, config, OnDevice(Projection(game)), endless=True)
    assert found.settings(config).endgame == endgame == tried[-1] and found.search == SECONDS[endgame]
    assert tried == list(range(20, endgame - 1, -4)), "no more is measured than needed"
    assert (f"endgame is {endgame} in self-play" in found.words()) == (endgame < 20)
    assert found.settings(config) == tiny(**{**DEEP, "endgame": endgame})


def test_a_game_whose_endings_are_not_solved_is_measured_once(quick, monkeypatch):
    monkeypatch.setattr(device_plan, "search_seconds", lambda *_: 1.0)
    for game, config in ((games.make("go(size=5)"), tiny(game="go(size=5)")), (GAME, tiny(proofs=False))):
        found = measured_plan(game, config, OnDevice(Projection(game)), endless=True)
        assert found.settings(config) is config


# ---- memory


def memory_for(monkeypatch, count, config, game=GAME):
    """Let free memory be enough for some games in flight."""
    monkeypatch.setattr(device_plan, "free_memory", lambda: int(count * bytes_per_game(game, config) / 0.6) + 1000)


def test_games_are_reduced_to_what_memory_holds_and_this_is_told(quick, monkeypatch):
    config = tiny(games_in_flight=512, episodes=5000)
    memory_for(monkeypatch, 100, config)
    assert games_in_memory(GAME, config) == 100
    found = measured_plan(GAME, config, Projection(GAME))
    assert 64 <= found.plan.in_flight <= 100
    expected = f"512 games in flight reduced to {found.plan.in_flight}, limited by the memory for their trees"
    assert found.limit == expected
    found = measured_plan(GAME, config, OnDevice(Projection(GAME)))
    assert found.plan.in_flight <= 100 and "would keep it busy, limited by the memory for" in found.words()
    found = measured_plan(GAME, tiny(episodes=5000, games_on_gpu=400), OnDevice(Projection(GAME)))
    assert found.plan.in_flight <= 100 and "reduced from 400, limited by the memory" in found.words()


def test_memory_for_no_game_leaves_one_a_thread(quick, monkeypatch):
    memory_for(monkeypatch, 0, tiny())
    assert measured_plan(GAME, tiny(), Projection(GAME)).plan.games == 1
    assert measured_plan(GAME, tiny(), OnDevice(Projection(GAME))).plan.in_flight == 1


def test_a_system_that_does_not_tell_its_memory_limits_nothing(quick, monkeypatch):
    monkeypatch.setattr(device_plan, "free_memory", lambda: None)
    assert measured_plan(GAME, tiny(), Projection(GAME)).limit == ""
    assert measured_plan(GAME, tiny(), OnDevice(Projection(GAME)), endless=True).limit == ""


def test_a_thread_has_no_more_moves_than_its_tables_count(quick, monkeypatch):
    monkeypatch.setattr(device_plan, "free_memory", lambda: None)
    game = games.make("gomoku(size=15)")
    for sims in (400, 20_000):
        config = tiny(game=game.spec, mcts_sims=sims, games_on_gpu=1 << 20)
        plan = measured_plan(game, config, OnDevice(Projection(game)), endless=True).plan
        assert plan.games >= 32 and plan.games * capacity_for(sims, 1) * up_to(GROUP, 225) <= MAX_EDGES


def test_the_memory_of_a_game_is_what_self_play_allocates():
    game, config = games.make("connect4"), tiny(mcts_sims=200)
    worker = SelfPlay(game, config, plan=Plan(1, 64)).workers[0]
    forest = worker.mcts.forest
    tables = (forest.trees, forest.nodes, forest.edges, forest.moves, forest.rows, forest.table, forest.steps,
              forest.noise, *(array for array in worker._flight if array.ndim > 1))  # fmt: skip
    allocated = sum(array.nbytes for array in tables) / 64
    assert allocated <= 1.02 * bytes_per_game(game, config) <= 1.2 * allocated


# ---- in a run


def test_the_cost_of_the_search_is_measured_by_playing(monkeypatch):
    monkeypatch.setattr(device_plan, "WARM", 0.0)
    monkeypatch.setattr(device_plan, "MEASURED", 0.05)
    assert 1e-8 < search_seconds(GAME, tiny()) < 1.0


def test_a_run_tells_its_device_and_plays_with_the_plan(quick, tmp_path, monkeypatch):
    with Session.start(tiny(episodes=40), root=tmp_path, console=QUIET) as session:
        make = session.predictor
        monkeypatch.setattr(session, "predictor", lambda *asked: OnDevice(make(*asked)))
        text = budget_text(session)
        plan = source_of(session).measured.plan
        told = re.search(r"^  device:  (.*)$", text, re.M)[1]
        assert told.startswith("200,000 evaluations/s") and f"{plan.games} games each" in told
        stages.play_self(session)
        assert work_of(session).raw_rate == 2e5
        workers = source_of(session).pool._selfplay.workers
        assert (len(workers), workers[0].trees) == (plan.threads, plan.games)
        log = (session.folder / "logs" / "logger_main.log").read_text()
        assert "device: 200,000 evaluations/s" in log
        games_played = {record.index: record for record in session.store.games_of(1)}
    with Session.start(tiny(episodes=40), root=tmp_path, console=QUIET) as session:
        assert "device:" not in budget_text(session)
        stages.play_self(session)
        others = {record.index: record for record in session.store.games_of(1)}
    assert games_played.keys() == others.keys() and all(same(games_played[i], others[i]) for i in others)


# ---- bench


def test_more_cores_reach_more_until_the_device_limits():
    speed = Speed((1024, 2048), (0.0013, 0.0023), (1e6, 1e6), (1e-5, 1e-5))
    lines = by_cores(speed, 5e-6, 2.0)
    assert [line["limit"] for line in lines] == ["cores", "device", "device", "device"]
    assert lines[0]["evals_per_s"] == pytest.approx(lines[0]["cores_alone"], rel=0.1)
    assert lines[3]["evals_per_s"] == pytest.approx(1e6, rel=0.01)
    assert all(line["sims_per_s"] == pytest.approx(2 * line["evals_per_s"], abs=2) for line in lines)


def test_a_plan_of_a_cpu_has_no_words():
    assert MeasuredPlan(Plan(1, 1)).words() == ""
