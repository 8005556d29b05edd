"""What the server searches, what it shows of runs as curves, and exact values."""

import json
import math
import random
import threading
import tracemalloc
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest

import games
from agent import Agent
from games.line_of_moves import after_moves
from interface.explain import explain
from players.rollout import RolloutPlayer
from plugins.page import web_players
from plugins.page.charts import Point, curve_svg
from plugins.page.run_reader import kept_points, metrics, strength_points
from plugins.page.runs_shown import curves_of
from plugins.page.searches import begun_with, follow, opinion_of, position_of, set_up
from plugins.page.true_values import plies_to_end, true_scores
from plugins.page.web_players import OneAtATime, choose, found, look
from support.search_cases import Projection


def machine(spec="connect4", sims=60):
    game = games.make(spec)
    return Agent("machine", game, Projection(game), mcts_sims=sims, leaves=1)


def position(game, moves=""):
    return after_moves(game, game.parse_moves(moves))


# ---- searches


@pytest.mark.parametrize("leaves", [1, 8])
def test_the_page_has_the_numbers_of_explain(leaves):
    game = games.make("connect4")
    agent = Agent("machine", game, Projection(game), mcts_sims=5000, leaves=leaves)
    for moves in ("44", "443", "4435", "44355"):
        state, other = position(game, moves), Agent("machine", game, Projection(game), mcts_sims=60, leaves=leaves)
        assert look(agent, state, 60) == explain(other, state), "also after positions before it were looked at"


def test_a_deeper_look_goes_on_with_the_search_and_equals_one_from_the_start():
    agent = machine(sims=5000)
    state = position(agent.game, "44")
    seen = []
    first = look(agent, state, 50)
    deep = look(agent, state, 400, watch=lambda found: seen.append(found["simulations"]), every=0.0)
    assert first["simulations"] == 50 and deep["simulations"] == 400
    assert seen == sorted(seen) and len(seen) > 3 and 50 <= seen[0] < 400
    assert deep["moves"] == look(machine(sims=5000), state, 400)["moves"]


def test_a_slow_display_leaves_the_search_its_time(monkeypatch):
    """A clock of the test's own: a look at it takes 10 ms, a result on the way 10 s."""
    now, agent = [0.0], machine(sims=5000)
    watched = []

    def clock():
        now[0] += 0.01
        return now[0]

    def watch(found):
        watched.append(found["simulations"])
        now[0] += 10.0

    monkeypatch.setattr(web_players, "time", SimpleNamespace(monotonic=clock))
    look(agent, position(agent.game, "44"), 400, watch=watch)
    assert 2 < len(watched) and np.diff(watched).min() >= 14, "30 ticks, two a simulation, lie between two results"


def test_a_result_reads_the_rows_that_it_shows_and_copies_no_tables():
    game = games.make("connect4")
    agent = Agent("machine", game, Projection(game), mcts_sims=100_000, leaves=8)
    look(agent, position(game, "44"), 400)
    tables = agent.MCTS.forest
    found(agent, agent.MCTS.root)
    tracemalloc.start()
    try:
        assert found(agent, agent.MCTS.root)["simulations"] == 400
        assert tracemalloc.get_traced_memory()[1] < min(tables.edges.nbytes, tables.moves.nbytes) / 10
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("make", [machine, lambda: RolloutPlayer(games.make("connect4"), sims=20_000)])
def test_a_search_is_stopped_when_asked_to_even_before_it_begins(make):
    player = make()
    state = position(player.game)
    found = look(player, state, 10_000, stop=lambda: True)
    assert found["simulations"] < 2000
    assert choose(player, "400", state, [], lambda: True) is None


def test_a_search_of_seconds_is_stopped_on_the_way():
    asked = []

    def stop():
        asked.append(1)
        return len(asked) > 3

    player = RolloutPlayer(games.make("connect4"), seconds=3600.0)
    player.new_game(0, 0)
    assert choose(player, "10s", position(player.game), [], stop) is None
    assert len(asked) > 3


def test_rollouts_have_no_opinion_of_a_network():
    player = RolloutPlayer(games.make("tictactoe"), sims=20_000)
    player.new_game(0, 0)
    found = look(player, position(player.game, "b2"), 400)
    assert found["network_value"] is None and {m["V"] for m in found["moves"]} == {None}
    assert sum(m["N"] for m in found["moves"]) == found["simulations"] >= 400 or found["simulations"] > 0
    opinion = opinion_of(player.game, found)
    assert opinion["raw"] is None and set(opinion["v"]) == {None} and sum(opinion["visits"]) > 0


def test_v_is_the_networks_value_after_the_move_for_who_moves():
    agent = machine()
    state = position(agent.game, "4433")
    for line in look(agent, state, 60)["moves"]:
        if line["N"]:
            after, result, done = state.takeAction(line["action"])
            expected = result if done else agent.get_preds(after)[0]
            assert line["V"] == pytest.approx(-expected, abs=1e-5)
        else:
            assert line["V"] is None


def test_a_predictor_answers_one_question_at_a_time_with_arrays_that_stay():
    class Busy:
        inside = 0
        out = __import__("numpy").zeros(1)

        def __call__(self, planes):
            assert self.inside == 0, "two at once"
            self.inside += 1
            self.out[:] = planes
            self.inside -= 1
            return self.out, self.out

    ask, wrong = OneAtATime(Busy()), []

    def many(number):
        for _ in range(200):
            values, logits = ask(number)
            if values[0] != number or logits[0] != number:
                wrong.append(number)

    threads = [threading.Thread(target=many, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- exact values


def test_true_values_are_those_of_perfect_play():
    game = games.make("tictactoe")
    assert set(true_scores(game, game.start())[0].values()) == {0}
    state = position(game, "b2 b3")
    assert max(true_scores(game, state)[0].values()) == 1, "an edge is a losing answer to the centre"
    pytest.importorskip("bitbully")
    connect4 = games.make("connect4")
    moves = connect4.parse_moves("4343")
    values, plies = true_scores(connect4, after_moves(connect4, moves))
    assert values[3] == 1, "a third one on top of two"
    state = after_moves(connect4, moves)
    while not state.isEndGame:  # best play lasts as long as was said
        values, plies = true_scores(connect4, state)
        best = max(values, key=lambda action: (values[action], -values[action] * plies[action]))
        left, state = plies[best], state.takeAction(best)[0]
    assert left == 1


def brute_force(state):
    """The value for the player to move, by looking at all games."""
    if state.isEndGame:
        return state.value
    after = [state.takeAction(action)[0] for action in state.allowedActions]
    return max(brute_force(s) * (1 if s.playerTurn == state.playerTurn else -1) for s in after)


@pytest.mark.parametrize("spec", ["othello(size=4)", "connect4(columns=4,n=3,rows=4)"])
def test_endings_of_any_game_have_true_values_and_positions_far_from_the_end_have_none(spec):
    game = games.make(spec)
    rng = random.Random(1)
    states = [game.start()]
    while not states[-1].isEndGame or len(states) < 10:
        states = [game.start()] if states[-1].isEndGame else states
        states.append(states[-1].takeAction(rng.choice(list(states[-1].allowedActions)))[0])
    for state in states[-8:-1]:
        values = true_scores(game, state)[0]
        sides = {a: state.takeAction(a)[0] for a in state.allowedActions}
        assert values == {
            a: brute_force(s) * (1 if s.playerTurn == state.playerTurn else -1) for a, s in sides.items()
        }
    othello = games.make("othello")
    assert true_scores(othello, othello.start()) is None


# ---- curves


def test_a_curve_has_a_dot_for_each_number_and_an_interval_where_there_is_one():
    points = [Point(1, 0.5), Point(2, 0.25, 0.1, 0.4), Point(3, math.nan)]
    root = ElementTree.fromstring(curve_svg("Loss <&>", {"a<b": points, "c": [Point(2, 7.0)]}))
    circles = [e for e in root.iter() if e.get("class") == "dot"]
    assert len(circles) == 3
    assert len([e for e in root.iter() if e.get("class") == "interval"]) == 1
    assert [e.get("aria-label") for e in root.iter() if e.get("aria-label")] == ["Loss <&>"]
    lower, higher = (float(c.get("cy")) for c in circles[1::-1])
    assert higher < lower or float(circles[0].get("cy")) < float(circles[1].get("cy")), "more is higher"


@pytest.mark.parametrize("numbers", [[], [0.0], [5.0, 5.0], [-3.0, 1e9], [1e-9, 2e-9], [math.nan], [1, 2, 3] * 100])
def test_a_curve_of_any_numbers_is_drawn_inside_its_frame(numbers):
    root = ElementTree.fromstring(curve_svg("x", {"": [Point(i + 1, y) for i, y in enumerate(numbers)]}))
    for e in root.iter():
        if e.get("class") == "dot":
            assert 0 <= float(e.get("cx")) <= 420 and 0 <= float(e.get("cy")) <= 210


# ---- runs


LINES = [
    {"iteration": 1, "version": 1, "best_version": 1, "tournament_played": 100, "tournament_score": 0.75,
     "tournament_promoted": True, "score_positions": 100, "score_sims": 32, "score_kept_alone": 0.9, "score_kept": 1.0,
     "score_matches": [{"opponent": "rollout:16", "score": 0.5, "games": 100}]},
    {"iteration": 2, "version": 2, "best_version": 1},
    {"iteration": 3, "version": 3, "best_version": 1, "tournament_played": 100, "tournament_score": 0.5,
     "tournament_promoted": False, "score_positions": 100, "score_sims": 32,
     "score_kept_alone": 0.5, "score_kept": 0.8},
]  # fmt: skip


def test_strength_is_that_of_the_league_with_its_errors_and_promotions():
    points, zero = strength_points(LINES)
    assert zero == "rollout:16" and [(p.x, p.note) for p in points] == [(1, "promoted"), (3, "")]
    assert points[0].y == pytest.approx(0, abs=1) and points[1].y == pytest.approx(0, abs=2), "an even match each"
    assert all(40 < p.y - p.low == p.high - p.y < 120 for p in points), "some 35 Elo each are two errors of 100 games"
    without, zero = strength_points([{k: v for k, v in m.items() if k != "score_matches"} for m in LINES])
    assert zero == "version 0" and without[0].y == pytest.approx(400 * math.log10(3), abs=15), "three of four points"
    assert strength_points([{"iteration": 1}]) == ([], "version 0")


def test_the_share_of_kept_values_has_wilsons_interval():
    points = kept_points(LINES, "score_kept_alone")
    assert [(p.x, p.y) for p in points] == [(1, 90.0), (3, 50.0)]
    assert (points[1].low, points[1].high) == pytest.approx((40.4, 59.6), abs=0.1)
    assert (points[0].low, points[0].high) == pytest.approx((82.6, 94.5), abs=0.1)
    assert kept_points(LINES, "score_kept")[0].high == pytest.approx(100.0)
    assert kept_points([{"iteration": 1, "score_kept": 0.5}], "score_kept") == []
    whole = {"iteration": 1, "score_kept": 0.5, "score_positions": 431, "score_whole": True}
    assert [(p.y, p.low, p.high) for p in kept_points([whole], "score_kept")] == [(50.0, None, None)]


def test_the_scoreboard_is_drawn_where_there_is_one_and_says_its_simulations():
    drawn = {one["key"]: one["svg"] for one in curves_of({"connect4/run0001": LINES})}
    for key in ("elo", "score_kept", "score_kept_alone", "tournament_score"):
        assert drawn[key].count('class="dot"') == 2
        assert drawn[key].count('class="interval"') == (0 if key == "tournament_score" else 2)
    assert "% of positions, 32 sims" in drawn["score_kept"]
    assert "Elo, rollout:16 = 0" in drawn["elo"] and ", promoted</title>" in drawn["elo"]
    bare = {one["key"] for one in curves_of({"a": [{"iteration": 1, "self_play_plies": 9}]})}
    assert "score_kept" not in bare and "elo" in bare
    both = "".join(one["svg"] for one in curves_of({"a/run0001": LINES, "shipped/a/run0001": LINES[:1]}))
    assert both.count("shipped/a/run0001 (rollout:16 = 0)") and both.count("shipped/a/run0001 (32 sims)")


def test_a_line_that_is_being_written_is_left_for_later(tmp_path):
    (tmp_path / "metrics.jsonl").write_text(json.dumps({"iteration": 1}) + '\n{"iteration": 2, "self')
    assert [m["iteration"] for m in metrics(tmp_path)] == [1]
    (tmp_path / "metrics.jsonl").write_bytes(b'{"iteration": 1}\n{"iter\xff": 2}\n{"iteration": 3}\n')
    assert [m["iteration"] for m in metrics(tmp_path)] == [1, 3], "a line with a damaged byte is left out"
    assert metrics(tmp_path / "none") == []


# ---- positions as the page's engine has them


def test_an_opinion_has_a_number_for_each_action_and_a_proven_win_is_the_best():
    agent = machine()
    values = look(agent, position(agent.game, "4433"), 60)
    opinion = opinion_of(agent.game, values)
    assert sum(opinion["visits"]) == sum(move["N"] for move in values["moves"]) and len(opinion["priors"]) == 7
    assert opinion["best"] == values["moves"][0]["action"] and opinion["line"][0] == opinion["best"]
    assert all(line[0] == action for action, line in opinion["lines"].items())
    rollouts = RolloutPlayer(agent.game, sims=200)
    rollouts.new_game(0, 0)
    won = opinion_of(agent.game, look(rollouts, position(agent.game, "414141"), 200))
    assert won["best"] == 3 and won["proven"][3] == won["proof"] == 1


def test_positions_of_a_line_are_those_of_the_rules_and_an_illegal_move_is_named():
    game = games.make("connect4")
    found = follow(game, [3, 3, 3, 3, 3, 3, 3, 0], 6)
    assert found["illegal"] == 6 and len(found["positions"]) == 1
    last = found["positions"][0]
    assert last["legal"] == [0, 1, 2, 4, 5, 6] and last["last"] == 3 and last["player"] == 1 and not last["over"]
    assert [last["cells"][7 * row + 3] for row in range(5, -1, -1)] == [1, -1, 1, -1, 1, -1]
    over = follow(game, [0, 1, 0, 1, 0, 1, 0], 0)["positions"]
    assert len(over) == 8 and over[-1]["over"] and over[-1]["result"] == 1 and over[-1]["legal"] == []


def test_points_are_for_the_first_and_the_other_side_whoever_is_to_move():
    game = games.make("othello")
    first, second = (position_of(game, state) for state in (game.start(), position(game, "f5")))
    assert first["score"] == [2.0, 2.0] and second["score"] == [4.0, 1.0] and second["player"] == -1


def test_stones_that_are_set_up_begin_a_game_and_impossible_ones_do_not():
    game = games.make("gomoku")
    cells = [0] * 81
    cells[40] = cells[41] = 1
    cells[50] = cells[51] = -1
    state = set_up(game, cells, 1)
    assert position_of(game, state)["cells"] == cells
    begun = begun_with(game, {"cells": cells, "player": 1})
    assert follow(begun, [0], 0)["positions"][0]["cells"] == cells
    assert set_up(game, cells[:-1], 1) is None and set_up(games.make("connect4"), [0] * 42, 1) is None


def test_plies_to_the_end_are_those_of_the_score():
    assert [plies_to_end(score, played) for score, played in ((18, 6), (-18, 6), (1, 41), (0, 0))] == [1, 2, 1, 42]
