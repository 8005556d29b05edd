"""Stored positions searched again: what is chosen, what is found, what the memory has after a resume."""

import json
import shutil

import numpy as np
import pytest

from config import with_overrides
from initialise import Session
from main import train
from memory import origins
from search.many_trees import ManyTrees
from storage.position_data import REANALYSE, Searched
from storage.run_folders import read_config
from storage.run_store import Store, evaluations_made, evaluations_of
from storage.verify import verify
from support.tiny_runs import QUIET, tiny
from training import position_search
from training.search_errors import errors, movers

AGAIN = {"reanalyse_share": 0.3, "iterations": 4, "memory_size": 4000}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return (folder of a finished run, columns of its memory)."""
    with Session.start(tiny(**AGAIN), root=tmp_path_factory.mktemp("again"), console=QUIET) as session:
        train(session)
        return session.folder, [column.copy() for column in session.memory.ltmemory]


def facts_of(folder, stage):
    store = Store(folder / "run.db", read_only=True)
    found = dict(store.stage_facts(stage, range(1, 9)))
    store.close()
    return found


def test_early_positions_are_searched_again_the_worst_first_and_each_once(whole):
    folder, *_ = whole
    known = set()
    with Session.open(folder, console=QUIET) as session:
        game, store = session.game, session.store
        facts = dict(store.stage_facts(REANALYSE, range(1, 9)))
        assert [*facts] == [i for i in range(1, 5) if store.version(0) and i in facts] and len(facts) >= 2
        for iteration, fact in facts.items():
            rows = {}
            for earlier in range(1, iteration):
                for record in store.games_of(earlier):
                    wrong, names = errors(record, movers(game, record)), origins(record).tolist()
                    for ply in range((len(wrong) + 1) // 2):
                        if record.visits[ply].any() and wrong[ply] > 0 and names[ply] not in known:
                            rows[names[ply]] = float(np.float32(wrong[ply]))
            found = Searched.of(fact, game.action_size).names.tolist()
            assert len(found) == min(round(0.3 * store.trained_positions(iteration)), len(rows))
            least = min((rows[name] for name in found), default=0)
            assert len(set(found)) == len(found)
            assert sum(wrong > least for wrong in rows.values()) < len(found) or not found
            known |= set(found)


def test_a_search_again_is_that_of_a_tree_alone_with_the_newest_network(whole):
    folder, *_ = whole
    with Session.open(folder, console=QUIET) as session:
        game, store, config = session.game, session.store, session.config
        iteration, fact = [*store.stage_facts(REANALYSE, range(1, 9))][-1]
        found = Searched.of(fact, game.action_size)
        version = max(v.version for v in store.versions() if v.iteration < iteration)
        predictor = session.predictor("selfplay", version)
        places = {}
        for earlier in range(1, iteration):
            for record in store.games_of(earlier):
                places |= {name: (record, ply) for ply, name in enumerate(origins(record).tolist())}
        assert len(found.names)
        for name, visits, value in zip(found.names[:12].tolist(), found.visits, found.values, strict=False):
            record, ply = places[name]
            state = game.start()
            for move in record.moves[:ply]:
                state = state.takeAction(int(move))[0]
            tree = ManyTrees(game, config.search, sims=config.mcts_sims, cache_size=0)
            tree.set_root(state)
            tree.search(predictor, config.mcts_sims)
            assert value == np.float32(tree.root_value())
            kept = tree.kept_visits()
            if kept.any():
                assert (visits == kept).all(), f"\n{state}"
            assert set(np.flatnonzero(visits)) <= set(state.allowedActions)


def test_the_memory_of_a_resumed_run_teaches_the_same(whole, quick):
    folder, columns = whole
    with Session.open(folder, with_overrides(tiny(**AGAIN), iterations=5), console=QUIET) as session:
        n = len(session.memory)
        assert n > 300
        for found, before in zip(session.memory.ltmemory, columns, strict=True):
            assert (found[:n] == before[:n]).all()


def test_games_on_disk_are_as_they_were_and_the_metrics_have_no_data(whole):
    folder, *_ = whole
    report = verify(folder)
    assert report.damage == [] and report.state
    lines = [json.loads(text) for text in (folder / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["reanalyse_positions"] > 0 and lines[-1]["reanalyse_changed"] > 0
    assert not any("data" in name for line in lines for name in line)


def test_its_evaluations_count_towards_the_limit_of_evaluations(whole):
    folder, *_ = whole
    lines = [json.loads(text) for text in (folder / "metrics.jsonl").read_text().splitlines()]
    again = sum(line.get("reanalyse_evaluations", 0) for line in lines)
    played = sum(line["self_play_evaluations"] for line in lines)
    store = Store(folder / "run.db", read_only=True)
    assert float(store.get("evaluations")) == played + again > played
    assert all(evaluations_of(line) == evaluations_made(store.finished(line["iteration"])) for line in lines)
    store.close()


def test_a_run_that_is_stopped_again_and_again_finds_and_learns_the_same(whole, tmp_path, quick):
    with Session.start(tiny(**AGAIN), root=tmp_path, console=QUIET) as session:
        parts = session.folder
    for calls in (2, 5, 9, 14, 20, 30, 45, 60, 90):
        with Session.open(parts, console=QUIET) as session:
            left = iter(range(calls))
            train(session, stop=lambda left=left: next(left, None) is None)
    with Session.open(parts, console=QUIET) as session:
        train(session)
    assert verify(parts).state == verify(whole[0]).state
    assert {k: v["data"] for k, v in facts_of(parts, REANALYSE).items()} == {
        k: v["data"] for k, v in facts_of(whole[0], REANALYSE).items()
    }


def test_a_search_that_fails_ends_the_stage_and_lets_no_other_wait(whole, tmp_path, monkeypatch, quick):
    folder = tmp_path / "runs" / whole[0].parent.name / whole[0].name
    shutil.copytree(whole[0], folder)
    monkeypatch.setattr(position_search, "MOST_TREES", 1)

    def fails(searcher, states, part):
        raise ZeroDivisionError("a fault of the rules")

    monkeypatch.setattr(position_search._Searcher, "search", fails)
    with Session.open(folder, with_overrides(read_config(folder), iterations=5), console=QUIET) as session:
        with pytest.raises(ZeroDivisionError):
            train(session)


def test_a_run_without_the_setting_has_no_such_stage(trained):
    assert not facts_of(trained, REANALYSE)


def test_what_is_found_out_of_a_game_is_not_for_an_equal_one_later(tmp_path, quick):
    config = tiny(
        gumbel=2, mcts_sims=4, fast_sims=4, episodes=120, selfplay_with="best", eval_every=10, iterations=5,
        reanalyse_share=1.0, memory_size=2000, score_every=0,
    )  # fmt: skip
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        train(session)
        names = [{int(n) for r in session.store.games_of(i) for n in origins(r)[r.visits.any(axis=1)]}
                 for i in range(1, 6)]  # fmt: skip
        whole = [version.sha256 for version in session.store.versions()]
    assert sum(map(len, names)) > len(set().union(*names)), "the same network plays some games twice"
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        train(session, iterations=3)
        folder = session.folder
    with Session.open(folder, console=QUIET) as session:
        train(session)
        assert [version.sha256 for version in session.store.versions()] == whole
