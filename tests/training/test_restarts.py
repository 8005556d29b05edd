"""Games of self-play that begin in given positions: what is played, recorded, chosen again after a kill."""

import numpy as np
import pytest

from config import with_overrides
from initialise import Session
from main import train
from memory import Memory
from storage.game_exchange import fault
from storage.verify import verify
from support.search_cases import GAMES, Projection
from support.tiny_runs import QUIET, jobs, tiny
from training.game_source import source_of
from training.hindsight import Hindsight
from training.restarts import random_plies, restarts
from training.selfplay import Beginnings, SelfPlay, longest_first

SHARE = {"restart_share": 0.5, "iterations": 3, "episodes": 24}


def played(game, beginnings=None, **changes):
    selfplay = SelfPlay(game, tiny(**changes), threads=1)
    if beginnings is not None:
        selfplay.set_iteration(1, beginnings)
    return sorted(selfplay.play(Projection(game), jobs(20)), key=lambda record: record.index)


def same(one, other):
    return all(np.array_equal(getattr(one, part), getattr(other, part)) for part in one._fields)


@pytest.mark.parametrize(("name", "moves"), [("connect4", [3, 3, 2, 5]), ("corridor", [1, 8, 2]), ("tictactoe", [4])])
def test_a_game_begins_with_the_moves_given_and_the_others_are_as_without(name, moves):
    game, some = GAMES[name], {"random_opening_share": 0.6, "random_opening_plies": 3, "full_search_share": 1.0}
    usual = played(game, Beginnings(), **some)
    assert all(map(same, usual, played(game, **some)))
    found = played(game, Beginnings(openings=[(i, moves) for i in (2, 7, 11)]), **some)
    for before, record in zip(usual, found, strict=True):
        if record.index not in (2, 7, 11):
            assert same(before, record)
            continue
        assert record.moves[: len(moves)].tolist() == moves and not fault(game, record)
        assert not record.visits[: len(moves)].any() and not record.values[: len(moves)].any()
        plies = len(record.moves)
        taught = Memory(game, 100, fast_positions=1.0).positions(record)
        assert 0 < len(taught.result) <= plies - len(moves), "only what was played after them is learnt from"
    assert len({tuple(found[i].moves) for i in (2, 7, 11)}) > 1 or name == "tictactoe", "each has its own seed"


def test_another_number_of_random_moves_holds_for_one_iteration():
    game = GAMES["connect4"]
    some = {"random_opening_share": 1.0, "random_opening_plies": 9, "full_search_share": 1.0}
    short = played(game, Beginnings(random_plies=2), **some)
    assert {int(np.argmax(record.visits.any(axis=1))) for record in short} == {1, 2}
    assert all(map(same, short, played(game, **{**some, "random_opening_plies": 2})))


def test_the_games_with_the_longest_openings_come_last():
    config = tiny(game="connect4", random_opening_share=1.0, random_opening_plies=4)
    order = longest_first(config, "run", 1, range(20), Beginnings(openings=[(3, [0] * 6), (5, [1])]))
    assert order[-1] == 3 and sorted(order) == list(range(20))
    assert longest_first(config, "run", 1, range(9), Beginnings(2)) == longest_first(
        with_overrides(config, random_opening_plies=2), "run", 1, range(9)
    )


def test_openings_are_shorter_in_the_last_third_of_the_run(tmp_path, quick):
    config = tiny(iterations=6, episodes=2, late_opening_plies=2, random_opening_share=1.0, random_opening_plies=5)
    found = []
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        while session.is_unfinished():
            found.append(random_plies(config, session.store))
            train(session, iterations=1)
        assert found == [5, 5, 5, 5, 2, 2]
        assert random_plies(with_overrides(config, late_opening_plies=0), session.store) == 5


def test_a_run_restarts_where_it_was_wrong_and_a_run_that_is_stopped_does_the_same(tmp_path, quick):
    with Session.start(tiny(**SHARE), root=tmp_path / "whole", console=QUIET) as session:
        lines = train(session)
        run, store = session.store.get("run"), session.store
        assert [line["self_play_restarted"] > 0 for line in lines] == [False, True, True]
        for iteration in (1, 2, 3):
            begun = restarts(session.config, store, Hindsight(session.game, store), run, iteration)
            assert len(begun) == lines[iteration - 1]["self_play_restarted"]
            games = {record.index: record for record in store.games_of(iteration)}
            for index, moves in begun:
                assert games[index].moves[: len(moves)].tolist() == moves
                assert not games[index].visits[: len(moves)].any()
        whole = session.folder
    config = tiny(**SHARE)
    with Session.start(config, root=tmp_path / "parts", console=QUIET) as session:
        parts = session.folder
        train(session, iterations=1)
    for calls in (3, 9, 40):
        with Session.open(parts, console=QUIET) as session:
            left = iter(range(calls))
            train(session, stop=lambda left=left: next(left, None) is None)
    with Session.open(parts, console=QUIET) as session:
        train(session)
        assert not session.is_unfinished()
    assert verify(whole).damage == [] == verify(parts).damage
    assert verify(whole).state == verify(parts).state != ""


def test_workers_and_threads_restart_the_same_games(tmp_path, quick):
    states = []
    for workers in (0, 1):
        with Session.start(tiny(**SHARE, workers=workers), root=tmp_path / str(workers), console=QUIET) as session:
            train(session, iterations=2)
            states.append([record.moves.tolist() for record in session.store.games_of(2)])
            assert source_of(session).spec(1).beginnings.openings
    assert states[0] == states[1]


def test_without_the_setting_nothing_is_read_or_chosen():
    assert restarts(tiny(), None, None, "run", 5) == []


