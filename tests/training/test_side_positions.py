"""Positions next to the games: which are chosen, what is found, what the memory has after a resume."""

import contextlib
import itertools
import json
import shutil
import sqlite3
from types import SimpleNamespace

import numpy as np
import pytest

from config import SettingsError, with_overrides
from games.sizes import OUTSIDE
from initialise import Session
from main import train
from memory import origins
from search.many_trees import ManyTrees
from storage.atomic_files import DamagedData
from storage.game_record import ILLEGAL_VISITS, GameRecord
from storage.position_data import SIDE, Sides
from storage.recover import recover
from storage.run_folders import read_config
from storage.verify import verify
from support.tiny_runs import QUIET, tiny
from training.side_positions import choose

SETTINGS = {
    "side_share": 0.4, "iterations": 4, "memory_size": 400, "fast_positions": 0.5, "reanalyse_share": 0.2,
    "surprise_weight": 0.5, "ownership_weight": 1.5,
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return (folder of a finished run, columns and drawing weights of its memory from the oldest position on)."""
    with Session.start(tiny(**SETTINGS), root=tmp_path_factory.mktemp("side"), console=QUIET) as session:
        train(session)
        return session.folder, in_order(session.memory)


def in_order(memory):
    order = (memory._next - len(memory) + np.arange(len(memory))) % memory.size
    return [column[order].copy() for column in (*memory.ltmemory, memory._weights)]


def sides(session):
    facts = session.store.stage_facts(SIDE, range(1, 9))
    return {iteration: Sides.of(fact, session.game.action_size) for iteration, fact in facts}


def position(game, moves):
    state = game.start()
    for move in moves:
        state = state.takeAction(int(move))[0]
    return state


def test_they_come_after_moves_that_were_considered_and_not_played(whole):
    with Session.open(whole[0], console=QUIET) as session:
        found, store = sides(session), session.store
        assert [*found] == [1, 2, 3, 4]
        for iteration, side in found.items():
            wanted = round(0.4 * store.trained_positions(iteration))
            assert 0.8 * wanted < len(side.game) <= wanted, "few moves end a game"
            assert len(set(zip(side.game.tolist(), side.ply.tolist(), strict=True))) == len(side.game)
            for index, ply, move in zip(side.game.tolist(), side.ply.tolist(), side.move.tolist(), strict=True):
                record = store.game(iteration, index)
                assert record.moves[ply] != move and 0 < record.visits[ply][move] < ILLEGAL_VISITS
                assert not position(session.game, [*record.moves[:ply], move]).isEndGame


def test_moves_are_drawn_by_their_visits(whole, monkeypatch):
    with Session.open(whole[0], console=QUIET) as session:
        drawn, by_visits, evenly = [], [], []
        for iteration, name in itertools.product(range(1, 5), "abcde"):
            monkeypatch.setattr(session.store, "get", lambda key, name=name: name)
            run = SimpleNamespace(store=session.store, game=session.game, iteration=iteration)
            for index, ply, move, _ in choose(run, 10**9):
                record = session.store.game(iteration, index)
                others = record.visits[ply].astype(float)
                others[record.moves[ply]] = 0
                for action in np.flatnonzero(others):
                    if position(session.game, [*record.moves[:ply], action]).isEndGame:
                        others[action] = 0
                shares = others / others.sum()
                drawn.append(shares[move])
                by_visits.append((shares**2).sum())
                evenly.append(1 / np.count_nonzero(shares))
        expected, chance = np.mean(by_visits), np.mean(evenly)
        assert len(drawn) > 800 and expected - chance > 0.04
        assert abs(np.mean(drawn) - expected) < abs(np.mean(drawn) - chance)


def test_each_is_searched_as_by_a_tree_alone_and_teaches_what_was_found(whole):
    with Session.open(whole[0], console=QUIET) as session:
        game, store, config = session.game, session.store, session.config
        side = sides(session)[4]
        version = max(v.version for v in store.versions() if v.iteration < 4)
        predictor, memory = session.predictor("selfplay", version), session.memory.ltmemory
        records = [*side.records(game, store.games_of(4))]
        for k, record in enumerate(records[:12]):
            moves = [*store.game(4, int(side.game[k])).moves[: side.ply[k]], side.move[k]]
            assert record.moves[:-1].tolist() == moves
            tree, state = ManyTrees(game, config.search, sims=config.mcts_sims, cache_size=0), position(game, moves)
            tree.set_root(state)
            tree.search(predictor, config.mcts_sims)
            assert side.values[k] == np.float32(tree.root_value())
            kept = tree.kept_visits()
            assert (side.visits[k] == kept).all() or not kept.any()
            assert set(np.flatnonzero(side.visits[k])) <= set(state.allowedActions)
            (row,) = np.flatnonzero(memory.origin[: len(session.memory)] == origins(record)[-1])[:1]
            assert memory.result[row] == memory.value[row] == side.values[k], "for the player to move"
            assert (memory.owners[row] == OUTSIDE).all(), "nobody knows who would own the points"
            legal = memory.visits[row] != ILLEGAL_VISITS
            assert (np.where(legal, memory.visits[row], 0) == side.visits[k]).all()
            assert set(np.flatnonzero(legal)) == set(state.allowedActions)


def test_the_memory_of_a_resumed_run_holds_the_same_in_the_same_order(whole, quick):
    folder, columns = whole
    with Session.open(folder, with_overrides(tiny(**SETTINGS), iterations=5), console=QUIET) as session:
        assert len(session.memory) == 400, "older ones had to go"
        for found, before in zip(in_order(session.memory), columns, strict=True):
            assert (found == before).all()


def test_a_run_that_is_stopped_again_and_again_finds_and_learns_the_same(whole, tmp_path, quick):
    with Session.start(tiny(**SETTINGS), root=tmp_path, console=QUIET) as session:
        parts = session.folder
    for calls in (3, 8, 15, 25, 40, 60, 90):
        with Session.open(parts, console=QUIET) as session:
            for _ in range(2):  # the second call meets stages that this session has finished
                left = iter(range(calls))
                train(session, stop=lambda left=left: next(left, None) is None)
    with Session.open(parts, console=QUIET) as session:
        train(session)
    assert verify(parts).state == verify(whole[0]).state
    lines = [json.loads(text) for text in (parts / "metrics.jsonl").read_text().splitlines()]
    assert all(line["side_positions"] > 0 and "side_data" not in line for line in lines)


def test_a_game_without_full_searches_has_none():
    record = GameRecord(0, np.array([4, 0], np.int16), np.zeros((2, 0), np.uint16), np.zeros(2, np.float32), 0.0)
    store = SimpleNamespace(games_of=lambda iteration: [record], get=lambda key: "run")
    assert choose(SimpleNamespace(store=store, game=None, iteration=1), 9) == []


def test_what_belongs_to_no_game_is_refused(whole):
    with Session.open(whole[0], console=QUIET) as session:
        side = sides(session)[1]
        for wrong in ({"ply": side.ply + 90}, {"visits": side.visits * 0}, {"move": side.move + 100}):
            with pytest.raises(DamagedData):
                session.memory.extend(side._replace(**wrong).records(session.game, session.store.games_of(1)))


def test_what_was_beside_a_lost_game_is_left_out_and_a_recovered_run_goes_on(whole, tmp_path, quick):
    folder = tmp_path / "runs" / whole[0].parent.name / whole[0].name
    shutil.copytree(whole[0], folder)
    with Session.open(folder, console=QUIET) as session:
        side = sides(session)[4]
    lost = int(side.game[0])
    with contextlib.closing(sqlite3.connect(folder / "run.db")) as db, db:
        db.execute("UPDATE games SET result = 0.25 WHERE iteration = 4 AND idx = ?", (lost,))
    found = recover(folder)
    assert any("stay lost" in line for line in found.lost)
    again = folder.with_name(found.run)
    with Session.open(again, with_overrides(read_config(again), iterations=5), console=QUIET) as session:
        names = session.memory.ltmemory.origin[: len(session.memory)]
        records = [*side.records(session.game, session.store.games_of(4))]
        assert len(records) == np.count_nonzero(side.game != lost)
        assert np.isin([origins(record)[-1] for record in records], names).all()
        assert len(train(session)) == 1


def test_an_interrupted_insertion_leaves_none_of_them(whole, monkeypatch, tmp_path, quick):
    with Session.start(tiny(**SETTINGS), root=tmp_path, console=QUIET) as session:
        real, calls = session.memory.joined, []

        def interrupted(games):
            found = real(games)
            if games and games[0].board == SIDE and not calls:
                calls.append(len(games))
                raise KeyboardInterrupt
            return found

        monkeypatch.setattr(session.memory, "joined", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(session, iterations=1)
        train(session, iterations=1)
        side = sides(session)[1]
        assert calls == [len(side.game)], "all at once"
        names = [origins(record)[-1] for record in side.records(session.game, session.store.games_of(1))]
        assert np.isin(session.memory.ltmemory.origin[: len(session.memory)], names).sum() == len(names)


def test_they_are_off_by_default_and_go_with_no_lag(trained):
    assert read_config(trained).side_share == 0
    with Session.open(trained, console=QUIET) as session:
        assert not sides(session)
    with pytest.raises(SettingsError, match="lag: expected 0 with side_share"):
        tiny(side_share=0.1, lag=1)
