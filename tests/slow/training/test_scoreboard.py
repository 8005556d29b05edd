"""The scoreboard in training: what comes into metrics.jsonl, that a resumed run finds the same, how opponents grow."""

import json
import re
import shutil

import pytest

from initialise import Session
from loggers import read_metrics
from main import train
from support.run_states import Listening, copied, start
from support.tiny_runs import QUIET
from training import scoreboard, stages
from training.presets import preset
from training.stage_bookkeeping import Stage

SETTINGS = {
    "score_every": 1,
    "score_positions": 40,
    "score_sims": 6,
    "score_games": 8,
    "iterations": 3,
    "eval_every": 1,
}


def scores(folder):
    """Return what metrics.jsonl holds of scoreboards, but how long they took."""
    return [
        {k: v for k, v in line.items() if k.startswith("score_") and k != "score_seconds"}
        for line in read_metrics(folder / "metrics.jsonl")
    ]


@pytest.fixture
def undisturbed(tmp_path, quick):
    with start(tmp_path / "one", **SETTINGS) as session:
        train(session)
        return session.folder


def test_every_iteration_has_a_scoreboard(undisturbed):
    found = scores(undisturbed)
    assert len(found) == 3
    for line in found:
        assert line["score_positions"] == 40 and line["score_sims"] == 6 and line["score_whole"] is False
        assert 0.3 < line["score_kept_alone"] <= 1 and 0.3 < line["score_kept"] <= 1
        first, *later = line["score_kept_by_stage"]
        assert first is None and len(later) == 2 and all(0 < share <= 1 for share in later), "none is of stage 1"
        assert 0 < line["score_value_error"] < 2
        assert [m["opponent"] for m in line["score_matches"]][0] == "rollout:16"
        assert all(m["games"] == 4 and 0 <= m["score"] <= 1 for m in line["score_matches"])
        assert line["score_elo_error"] > 0 and abs(line["score_elo"]) < 3000


@pytest.mark.parametrize("moment", ["choose", "rollout_match", "league"])
def test_a_run_interrupted_in_a_scoreboard_comes_to_the_same_figures(undisturbed, tmp_path, quick, monkeypatch, moment):
    whole, calls = getattr(scoreboard, moment), []

    def interrupted(*args, **options):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return whole(*args, **options)

    with start(tmp_path / "two", **SETTINGS) as session:
        folder = session.folder
        monkeypatch.setattr(scoreboard, moment, interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(session)
        monkeypatch.setattr(scoreboard, moment, whole)
    with Session.open(folder, console=QUIET) as session:
        assert session.iteration < 4
        train(session)
    assert scores(folder) == scores(undisturbed)


def test_asked_to_stop_in_a_scoreboard_it_stops_there_and_makes_it_anew(undisturbed, tmp_path, quick):
    with start(tmp_path / "two", **SETTINGS) as session:
        folder = session.folder
        assert train(session, stop=lambda: "tournament" in session.store.finished(1)) == []
        assert "score" not in session.store.finished(1)
    with Session.open(folder, console=QUIET) as session:
        train(session)
    assert scores(folder) == scores(undisturbed)


def test_the_console_says_what_was_found(tmp_path, quick):
    with start(tmp_path / "one", **{**SETTINGS, "iterations": 1}) as session:
        session.console = listening = Listening()
        train(session)
    heading, line = listening.said[-2:]
    assert heading.split()[-5:-2] == ["kept", "searched", "Elo"]
    assert re.search(r" \d+\.\d% +\d+\.\d% +-?\d+ ±\d+ +\d+ +\d+:\d\d$", line)


def test_a_scoreboard_is_made_when_its_turn_comes_and_at_the_end(tmp_path, quick):
    changes = {**SETTINGS, "iterations": 5, "score_every": 2, "eval_every": 3}
    with start(tmp_path / "one", **changes) as session:
        train(session)
        found = scores(session.folder)
    assert ["score_kept" in line for line in found] == [False, True, False, True, True]
    assert ["score_matches" in line for line in found] == [False, False, True, False, True]


def test_without_a_scoreboard_nothing_is_measured(tmp_path, quick, monkeypatch):
    for name in ("choose", "rollout_match"):
        monkeypatch.setattr(scoreboard, name, lambda *_, **__: pytest.fail("measured"))
    with start(tmp_path / "one", **{**SETTINGS, "score_every": 0, "score_games": 0}) as session:
        train(session, iterations=1)
        assert scores(session.folder) == [{}]


def test_a_game_without_exact_values_has_its_matches_and_says_once_why(tmp_path, quick, monkeypatch):
    monkeypatch.setattr(scoreboard, "oracle", lambda game: None)
    monkeypatch.setattr(scoreboard, "_KNOWN", {})
    with start(tmp_path / "one", **{**SETTINGS, "iterations": 2}) as session:
        session.console = listening = Listening()
        train(session)
        line, _ = scores(session.folder)
        log = (session.folder / "logs" / "logger_main.log").read_text()
    assert "score_kept" not in line and line["score_matches"]
    assert log.count("no exact values of tictactoe") == 1
    assert sum("no exact values of tictactoe" in text for text in listening.said) == 1


# ---- the opponent


def played(opponent, score):
    return {"score_matches": [{"opponent": f"rollout:{opponent}", "score": score, "games": 16}]}


@pytest.mark.parametrize(
    "before, found, following",
    [(16, 0.5, 16), (16, 0.64, 16), (16, 0.65, 32), (64, 0.89, 128), (64, 0.9, 256), (64, 0.3, 64), (64, 0.25, 32),
     (16, 0.0, 16), (512, 1.0, 1024), (1024, 0.7, 1024)],
)  # fmt: skip
def test_the_opponent_grows_when_it_is_beaten(before, found, following):
    lines = [played(16, 1.0), {"score_kept": 0.5}, played(before, found), {}]
    assert scoreboard.next_opponent(lines, 1024) == following


def test_the_first_opponent_is_the_weakest_and_the_strongest_of_a_match_counts():
    assert scoreboard.next_opponent([], 1024) == scoreboard.next_opponent([{}, {"score_kept": 1.0}], 1024) == 16
    both = {"score_matches": [*played(32, 1.0)["score_matches"], *played(64, 0.5)["score_matches"]]}
    assert scoreboard.next_opponent([both], 1024) == 64


def test_opponents_cost_at_most_their_share_of_self_play():
    for name in ("laptop", "tiny", "gpu"):
        c = preset(name)
        for plies in (8, 33, 120):
            top = scoreboard.strongest(c, plies, plain=False)
            full = c.full_search_share * c.mcts_sims + (1 - c.full_search_share) * c.fast_sims
            work = c.eval_every * c.episodes * plies * full
            simulations = c.score_games // 2 * (top + top // 2) * plies / 2
            assert top == 16 or simulations <= scoreboard.COST * work
            assert top == scoreboard.HIGHEST or 2 * simulations > scoreboard.COST * work
            assert scoreboard.strongest(c, plies, plain=True) <= top
    assert scoreboard.strongest(preset("tiny", episodes=1), 8, plain=True) == 16


class Won:
    score = 1.0


def test_a_stronger_opponent_comes_beside_the_one_half_as_strong(tmp_path, quick, monkeypatch):
    monkeypatch.setattr(scoreboard, "rollout_match", lambda game, player, sims, which, **_: [Won()] * len(which))
    monkeypatch.setattr(scoreboard, "strongest", lambda *_, **__: 512)
    with start(tmp_path / "one", **{**SETTINGS, "iterations": 4}) as session:
        train(session)
        lines = read_metrics(session.folder / "metrics.jsonl")
    met = [[m["opponent"] for m in line["score_matches"]] for line in lines]
    assert met == [["rollout:16"], ["rollout:32", "rollout:64"], ["rollout:128", "rollout:256"],
                   ["rollout:256", "rollout:512"]]  # fmt: skip


def test_a_run_of_before_there_were_scoreboards_goes_on(root, quick):
    folder = root / "tictactoe" / "run0001"
    settings = json.loads((folder / "config.json").read_text())
    old = {k: v for k, v in settings.items() if not k.startswith("score_")}
    (folder / "config.json").write_text(json.dumps({**old, "iterations": 5}))
    with Session.open(shutil.copytree(folder, root / "tictactoe" / "run0002"), console=QUIET) as session:
        train(session)
        assert "score_matches" in read_metrics(session.folder / "metrics.jsonl")[-1]


def test_the_log_of_every_simulation_is_that_of_tournaments(trained, tmp_path, monkeypatch):
    folder, asked = copied(trained, tmp_path), []
    monkeypatch.setattr(stages, "tournament", lambda game, *players, **options: asked.extend(players[:2]) or 1 / 0)
    with Session.open(folder, console=QUIET, log_mcts=True) as session:
        assert session.agent(1).observer is None, "what the scoreboard asks"
        with pytest.raises(ZeroDivisionError):
            stages._tournament(Stage(session, "tournament"), 2, 1)
    assert [player.observer.logger for player in asked] == [session.loggers.mcts] * 2 and session.loggers.mcts
