"""Figures told to people are what they are called: intervals, games that differ, lines of play, budgets, curves."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

import games
from evaluation import match
from evaluation.ladder import climb
from evaluation.move_accuracy import stages
from evaluation.openings import different, identity, openings
from evaluation.promotion import sprt
from evaluation.rating import rate, wilson
from interface.commands import match as match_command
from interface.curves import Run, curves
from interface.explain import describe
from support.command_line import output_of
from support.match_players import Luck, Spy
from support.run_states import line, panels
from support.search_cases import GAMES, Projection, rooted
from support.tiny_runs import tiny
from training import estimate


def test_a_match_that_was_won_or_lost_whole_has_no_finite_bound_on_that_side():
    for games_played in range(2, 502, 2):
        won, lost = rate([1.0] * games_played), rate([0.0] * games_played)
        assert won.high == won.elo == math.inf and won.low == pytest.approx(-lost.high) and math.isfinite(won.low)
        assert lost.low == lost.elo == -math.inf
    assert wilson(0.5, 100) == pytest.approx((0.4038, 0.5962), abs=1e-4)


# ---- games that differ


def test_no_opening_is_the_mirror_image_of_another():
    asked = ("connect4", 50, 3), ("tictactoe", 12, 2), ("othello(size=6)", 20, 4), ("go(size=5)", 6, 1)
    for name, count, plies in asked:
        game = games.make(name)
        found = openings(game, count, plies=plies, seed=0)
        ends = [identity(game, after(game, moves)) for moves in found]
        assert len(set(ends)) == len(found) == count, name


def after(game, moves):
    state = game.start()
    for action in moves:
        state = state.takeAction(action)[0]
    return state


def test_games_are_counted_up_to_the_symmetries_of_the_start():
    four = games.make("connect4")
    assert different(four, [[0, 1, 2], [6, 5, 4], [0, 1, 3], [0, 1, 2]]) == 2
    square = games.make("tictactoe")
    assert different(square, [[0, 4], [2, 4], [6, 4], [8, 4]]) == 1 and different(square, [[0, 4], [1, 4]]) == 2
    othello = games.make("othello")
    first = [int(a) for a in othello.start().allowedActions]
    assert different(othello, [[a] for a in first]) == 1, "its four first moves are one"
    lines = [[a, int(b)] for a in first for b in othello.start().takeAction(a)[0].allowedActions]
    assert different(othello, lines) == 3, "and there are three answers"


# ---- sequential tests


def test_a_match_game_by_game_keeps_the_errors_of_its_sequential_test_far_from_a_half(monkeypatch):
    monkeypatch.setattr(match, "openings", lambda game, count, **options: [[]] * count)
    args = SimpleNamespace(games=800, json=True, save="", seed=0, opening_plies=0)
    one = Spy("A", GAMES["tictactoe"]), Spy("B", GAMES["tictactoe"])
    for player in one:
        player.at_once = 1
    accepted, lengths = [], set()
    for seed in range(300):
        monkeypatch.setattr(match, "play_batch", Luck(seed, 0.9, 0.1))
        played, stopped, error = match_command._play(one[0].game, one, args, (0.9, 0.95), None, [], None)
        assert not stopped and error is None
        accepted.append(sprt([g.score for g in played], 0.9, 0.95).accepted)
        lengths.add(len(played) % 32)
    assert np.mean([a is True for a in accepted]) < 0.05 + 2 * (0.05 * 0.95 / 300) ** 0.5 and lengths == {0}


# ---- the ladder and exact positions


def test_the_ladder_tells_the_openings_that_were_played(capsys, place):
    command = ["evaluate", "random", "--game", "tictactoe", "--positions", "0", "--ladder-games", "24",
               "--opening-plies", "0"]  # fmt: skip
    assert json.loads(output_of(capsys, *command, "--json")[1])["ladder"]["opening_plies"] == 2, "for twelve pairs"
    assert "openings of 2 random plies" in output_of(capsys, *command)[1]


def test_a_climb_whose_games_are_all_played_was_not_ended_by_time():
    def play(sims, before, count):
        return [1.0, 0.0] * (count // 2)

    assert climb(play, 16, stop=lambda: "time").ended == "time" and climb(play, 8, stop=lambda: "time").ended == "games"


def test_all_positions_are_called_all_only_when_they_are(capsys, place):
    def exact(count):
        command = ["evaluate", "random", "--game", "tictactoe", "--ladder-games", "0", "--positions", str(count)]
        return json.loads(output_of(capsys, *command, "--json")[1])["exact"], output_of(capsys, *command)[1]

    for count, whole in ((431, True), (430, False), (1000, True)):
        found, text = exact(count)
        assert found["positions"] == min(count, 431) and found["whole"] is whole
        assert ("all there are up to symmetry" in text) is whole and ("±" in text) is ("95 %" in text) is not whole


def test_a_stage_never_ends_before_it_begins():
    found = stages([SimpleNamespace(ply=ply) for ply in (0, 2)], (0, 3, 6))
    assert [name for name, _ in found] == ["plies 0-2", "plies 3-5", "plies 6-6"]
    assert [int(mask.sum()) for _, mask in found] == [2, 0, 0]


# ---- what a search expects


def solved_roots(count):
    """Yield searches of Connect 4 that were solved at the root, near the end of random games."""
    game, rng = GAMES["connect4"], np.random.default_rng(4)
    while count:
        state = game.start()
        for _ in range(30):
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
            if state.isEndGame:
                break
        if state.isEndGame or len(state.allowedActions) < 2:
            continue
        mcts = rooted(game, state, proofs=True, look_ahead=2, endgame=12)
        mcts.search(Projection(game), 60)
        count -= 1
        yield mcts


def test_a_line_of_play_begins_with_a_move_that_keeps_what_is_proven():
    tempting = 0
    for mcts in solved_roots(120):
        root, edges = mcts.root, dict(mcts.root.edges)
        first = mcts.principal_variation()[:1]
        most = max(edges.values(), key=lambda edge: edge.stats["N"])
        if root.proven is not None and any(edge.stats["N"] and root.keeps_proof(edge) for edge in edges.values()):
            assert edges[first[0]].proven == root.proven
            tempting += most.proven != root.proven
    assert tempting, "or the most visited move would do"


def test_the_exploration_that_is_told_is_that_of_the_prior_that_is_told():
    game = GAMES["connect4"]
    mcts = rooted(game, after(game, [0, 6, 0, 6, 0, 5]), cpuct=1.25, proofs=True, look_ahead=2)
    mcts.search(Projection(game), 60)
    priors = np.array([0.05, 0.1, 0.2, 0.3, 0.1, 0.15, 0.1])
    found = describe(mcts.root, "x", (0.5, priors))
    assert found["proven"] == "won" and {m["P"] for m in found["moves"]} == set(priors.tolist())
    for m in found["moves"]:
        assert m["U"] == pytest.approx(1.25 * m["P"] * math.sqrt(1 + found["simulations"]) / (1 + m["N"]))


# ---- a run


def test_random_openings_are_not_counted_as_positions_to_learn(monkeypatch):
    monkeypatch.setattr(estimate, "measure_raw", lambda *_: 100.0)
    model = SimpleNamespace(model=SimpleNamespace(count_params=lambda: 1000))

    def positions(**changes):
        config = tiny(game="connect4", episodes=1000, full_search_share=1.0, **changes)
        session = SimpleNamespace(
            config=config, requested=config, best_version=0, current_version=0, iteration=1, model=model,
            game=GAMES["connect4"], worked_seconds=0.0, memory=SimpleNamespace(bytes_per_position=50),
            work=None, predictor=lambda role, version: SimpleNamespace(name="numpy"),
        )  # fmt: skip
        text = estimate.budget_text(session)
        return int(text.split("about ")[1].split(" positions")[0].replace(",", ""))

    none = positions(random_opening_share=0.0)
    assert none == 29_400
    assert positions(random_opening_share=0.75, random_opening_plies=30) == none - 11_625
    assert positions(random_opening_share=1.0, random_opening_plies=1000) == 1000, "a position each at least"


def test_curves_leave_out_what_is_no_number_and_name_the_search_of_today():
    lines = [line(1), line(2, retrain_policy_loss=math.nan, score_kept=math.inf), line(3, score_sims=64)]
    found = panels(curves(lines))
    assert [d.get_xdata().tolist() for d in found["loss"].lines if d.get_label() == "policy"] == [[1, 3]]
    assert {d.get_label() for d in found["value kept"].lines} == {"alone", "64 simulations"}
    assert Run("", lines, None, False).series("score_kept")[0] == [1, 3]
