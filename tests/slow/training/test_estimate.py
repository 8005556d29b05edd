"""What a run is said to take before it starts."""

import re
from types import SimpleNamespace

import games
from agent import Agent
from compiling import prepared
from config import with_overrides
from initialise import Session
from loggers import clock, read_metrics
from main import train
from search.evaluation_cache import CACHE_BYTES, place_bytes, places_in
from storage.run_folders import find_run, read_config
from support.tiny_runs import QUIET, tiny
from training import estimate
from training.selfplay import SelfPlay


def session_of(config):
    """Return what the estimate asks a new session, without a run on disk."""
    return SimpleNamespace(
        config=config, requested=config, best_version=0, current_version=0, iteration=1, game=games.make("tictactoe"),
        model=SimpleNamespace(model=SimpleNamespace(count_params=lambda: 1000)),
        memory=SimpleNamespace(bytes_per_position=50), worked_seconds=0.0, work=None,
        predictor=lambda role, version: SimpleNamespace(name="numpy"),
    )  # fmt: skip


def test_each_training_step_takes_its_time(monkeypatch):
    monkeypatch.setattr(estimate, "measure_raw", lambda *_: 100.0)
    monkeypatch.setattr(estimate, "clock", lambda seconds: f"{seconds:.3f} s")
    seconds = []
    for steps in (10, 20, 30):
        text = estimate.budget_text(session_of(tiny(training_loops=steps)))
        seconds.append(float(re.search(r"positions, ([0-9.]+) s; ", text)[1]))
    once = 10 * 10.0 * tiny().batch_size / 100.0
    assert abs(seconds[1] - seconds[0] - once) < 0.01 and abs(seconds[2] - seconds[0] - 2 * once) < 0.01


def test_the_disk_space_is_that_of_the_iterations_there_is_time_for(monkeypatch):
    monkeypatch.setattr(estimate, "measure_raw", lambda *_: 100.0)
    monkeypatch.setattr(estimate, "search_is_kept", lambda: True)
    monkeypatch.setattr(estimate, "clock", lambda seconds: f"{seconds:.3f} s")
    monkeypatch.setattr(estimate, "_size", lambda count: f"{count:.0f} bytes")

    def asked(**changes):
        text = estimate.budget_text(session_of(tiny(training_loops=10, **changes)))
        return [float(re.search(words + r"([0-9.]+)", text)[1]) for words in (r"disk: +up to ", "positions, ")]

    one, seconds = asked(iterations=1)
    assert abs(asked(iterations=400)[0] - 400 * one) < 400
    assert abs(asked(iterations=400, minutes=2.5 * seconds / 60)[0] - 3 * one) < 3
    assert abs(asked(iterations=2, minutes=1000)[0] - 2 * one) < 2


def test_a_run_that_goes_on_tells_what_its_last_iterations_took(trained, root, quick):
    folder = find_run("tictactoe", root=root)
    taken = [line["seconds"] for line in read_metrics(folder / "metrics.jsonl")]
    assert len(taken) == 4
    with Session.open(folder, with_overrides(read_config(folder), iterations=6), console=QUIET) as session:
        text = estimate.budget_text(session)
    assert f", {clock(sum(taken) / 4)}; the rest of the run: about {clock(sum(taken) / 2)}" in text


def test_a_run_that_knows_how_many_evaluations_an_iteration_takes_counts_on_them(trained, root, quick):
    folder = find_run("tictactoe", root=root)
    lines = read_metrics(folder / "metrics.jsonl")
    made, seconds = (sum(line[name] for line in lines) for name in ("self_play_evaluations", "seconds"))
    changed = with_overrides(read_config(folder), iterations=1000, evaluations=1.6 * made)
    with Session.open(folder, changed, console=QUIET) as session:
        assert f"the rest of the run: about {clock(3 * seconds / 4)}" in estimate.budget_text(session)


def test_what_is_changed_within_an_iteration_counts_for_the_rest_of_the_run(root, quick):
    folder = find_run("tictactoe", root=root)
    with Session.open(folder, with_overrides(read_config(folder), iterations=5), console=QUIET) as session:
        asked = []
        train(session, stop=lambda: asked.append(1) or len(asked) > 20)
        assert session.store.has_begun(5), "stopped in the middle"
    with Session.open(folder, with_overrides(read_config(folder), iterations=2), console=QUIET) as session:
        found = estimate.estimate(session)
        assert found.left > 0 and found.disk > 0, "the one in progress is finished, though fewer are wanted"
    for iterations in (6, 9):
        with Session.open(folder, with_overrides(read_config(folder), iterations=iterations), console=QUIET) as session:
            assert session.config.iterations == 5 and session.requested.iterations == iterations
            words = estimate.budget_text(session)
        taken = [line["seconds"] for line in read_metrics(folder / "metrics.jsonl")]
        assert f"the rest of the run: about {clock((iterations - 4) * sum(taken) / 4)}" in words


def bytes_of(tables):
    return sum(array.nbytes for array in tables if hasattr(array, "nbytes"))


def test_the_tables_of_self_play_and_of_a_tournament_take_no_more_than_estimated():
    game, config = games.make("go(size=9)"), tiny(games_in_flight=40, episodes=8, eval_episodes=6)
    needs = estimate.memory_needs(game, config)
    taken = 0
    for worker in SelfPlay(game, config, threads=1).workers:
        forest = worker.mcts.forest
        taken += bytes_of(forest) - forest.flat.nbytes + bytes_of(worker.mcts.cache) - worker.mcts.cache.flat.nbytes
        taken += bytes_of(worker._flight) + bytes_of((worker._boards, worker._logits, worker._values))
    assert 0.9 * taken <= needs.search <= 1.1 * taken
    player = Agent("player", game, lambda planes: None, mcts_sims=config.eval_sims)
    player.new_games(6)
    tables = player._games.trees
    taken = bytes_of(tables.forest) - tables.forest.flat.nbytes + bytes_of(tables.cache) - tables.cache.flat.nbytes
    assert 0.9 * 2 * taken <= needs.tournament <= 1.1 * 2 * taken


def test_the_games_of_an_iteration_and_the_network_count():
    game = games.make("go(size=9)")
    few, many = (estimate.memory_needs(game, tiny(episodes=n)).games for n in (10, 1000))
    assert many == 100 * few >= 1000 * game.max_plies * 3 * 2 * game.action_size
    small, large = (estimate.memory_needs(game, tiny(), n).most for n in (0, 10**6))
    assert large - small == estimate.COPIES * 4 * 10**6


def test_a_player_with_thousands_of_actions_has_a_smaller_cache():
    assert places_in(CACHE_BYTES, 1 << 16, 1000) == 1 << 16
    for actions in (4096, 32_767):
        places = places_in(CACHE_BYTES, 1 << 16, actions)
        assert CACHE_BYTES / 2 <= places * place_bytes(actions) <= CACHE_BYTES


def test_the_time_to_compile_is_a_part_of_the_estimate_until_it_is_kept(root, quick, monkeypatch, tmp_path):
    monkeypatch.setattr(estimate, "COMPILING", 40.0)  # without code that ships
    folder = find_run("tictactoe", root=root)
    with Session.open(folder, with_overrides(read_config(folder), iterations=6), console=QUIET) as session:
        monkeypatch.setattr(prepared, "FOLDER", tmp_path)
        cold = estimate.budget_text(session)
        (tmp_path / "selfplay_step.selfplay_step.entry-1.py311.nbi").touch()
        warm = estimate.budget_text(session)
    assert "compiled first, once, about 0:40" in cold and "compiled" not in warm
    assert all(len(line) <= 130 for line in warm.splitlines())


def test_a_learning_rate_that_is_hardly_meant_is_told():
    assert estimate.cautions(tiny()) == [] and estimate.cautions(tiny(optimizer="sgd", learning_rate=0.5)) == []
    (line,) = estimate.cautions(tiny(learning_rate=7.0))
    assert "above 0.1" in line and "got 7;" in line
