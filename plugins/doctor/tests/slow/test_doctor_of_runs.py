"""The doctor's findings on a trained run."""

import dataclasses
import shutil

import numpy as np
import pytest

from plugins.doctor import examine, history
from plugins.doctor.tests.findings import found, wrong


@pytest.fixture(scope="module")
def young(trained):
    return history.read_history(trained)


@pytest.fixture(scope="module")
def old(young):
    """The same run grown up: thirty iterations of falling losses, six tournaments."""
    lines = [
        {"iteration": i, "retrain_loss": 1 + 1 / i, "retrain_value_loss": 0.2 + 0.6 / i,
         "retrain_policy_loss": 1 + 1 / i, "self_play_memory": min(5 * i, 150), "tournament_played": 8 * (i % 5 == 0),
         "tournament_promoted": i == 5}
        for i in range(1, 31)
    ]  # fmt: skip
    return dataclasses.replace(young, lines=lines, iterations=30)


def test_a_run_without_an_iteration_gives_no_finding(young):
    empty = dataclasses.replace(young, lines=[], iterations=0, records=[], answers=None)
    for finding in examine(history.CHECKS, empty):
        assert finding.good, str(finding)


def with_metrics(run, **changes):
    """Return a run with metrics made anew: {name: f(iteration)}."""
    lines = [{**line, **{name: f(line["iteration"]) for name, f in changes.items()}} for line in run.lines]
    return dataclasses.replace(run, lines=lines)


def with_games(run, **changes):
    return dataclasses.replace(run, records=[record._replace(**changes) for record in run.records])


def one_move_visited(run):
    def only_most(visits):
        return np.where(np.arange(visits.shape[1]) == visits.argmax(1)[:, None], visits, 0)

    return dataclasses.replace(run, records=[r._replace(visits=only_most(r.visits)) for r in run.records])


def asked(value, logits):
    return lambda run: dataclasses.replace(run, answers=(np.full(50, value), np.tile(logits, (50, 1))))


ILL = [
    ("metrics", "iterations missing: 7", lambda r: dataclasses.replace(r, lines=r.lines[:6] + r.lines[7:])),
    ("metrics", "2 lines that are no", lambda r: dataclasses.replace(r, unreadable=2)),
    ("metrics", "twice", lambda r: dataclasses.replace(r, lines=r.lines + r.lines[-1:])),
    ("finite losses", "iteration 9", lambda r: with_metrics(r, retrain_loss=lambda i: 1.0 if i < 9 else float("nan"))),
    ("learning rate", "at its best", lambda r: with_metrics(r, retrain_loss=lambda i: 1 + 0.1 * i)),
    ("value loss", "now", lambda r: with_metrics(r, retrain_value_loss=lambda i: 1.0)),
    ("policy loss", "now", lambda r: with_metrics(r, retrain_policy_loss=lambda i: 1.9)),
    ("entropy", "0.0 %", one_move_visited),
    ("draws only", "100 %", lambda r: with_games(r, result=0.0)),
    ("one side wins", "the player who began won 100 %", lambda r: with_games(r, result=1.0)),
    ("one side wins", "the other side won 100 %", lambda r: with_games(r, result=-1.0)),
    ("duplicate games", "different", lambda r: with_games(r, moves=r.records[0].moves)),
    ("game length", "100 %", lambda r: with_games(r, moves=np.arange(9, dtype=np.int16))),
    ("memory", "40 positions", lambda r: with_metrics(r, self_play_memory=lambda i: 40)),
    ("memory", "training needs 50", lambda r: with_metrics(r, self_play_memory=lambda i: 0.1 * i)),
    ("promotions", "0 of 6", lambda r: with_metrics(r, tournament_promoted=lambda i: False)),
    ("network", "not finite", asked(np.nan, np.zeros(9))),
    ("network", "+- 0.000", asked(0.3, np.arange(9.0))),
    ("files", "DamagedData", lambda r: dataclasses.replace(r, fault="DamagedData: x")),
]


@pytest.mark.parametrize("name, words, plant", ILL, ids=[f"{i[0]}: {i[1]}" for i in ILL])
def test_a_fault_of_a_run_is_named(old, name, words, plant):
    wrong(history, name, plant(old), words)


def test_a_policy_that_is_level_but_better_than_a_guess_is_healthy(old):
    level = with_metrics(old, retrain_policy_loss=lambda i: 1.2)
    assert found(history, "policy loss", level).good


def test_games_that_fill_the_board_by_nature_are_not_too_long(old, monkeypatch):
    ill = with_games(old, moves=np.arange(9, dtype=np.int16))
    monkeypatch.setattr(history, "random_game", lambda game, seed: [None] * 10)
    assert found(history, "game length", ill).good


@pytest.mark.parametrize("damage", ["no database", "half a database", "other weights", "no weights"])
def test_damaged_files_of_a_run_are_named_and_left_alone(trained, tmp_path, damage):
    folder = shutil.copytree(trained, tmp_path / "tictactoe" / trained.name)
    newest = sorted((folder / "models").glob("version*.npz"))[-1]
    if damage == "no database":
        (folder / "run.db").unlink()
    elif damage == "half a database":
        (folder / "run.db").write_bytes((folder / "run.db").read_bytes()[:5000])
    elif damage == "other weights":
        newest.write_bytes(newest.read_bytes()[:-9] + b"123456789")
    else:
        newest.unlink()
    wrong(history, "files", history.read_history(folder), "")
