"""benchmarks/referees.py: the same openings against each, games lost by rule counted and named; hex_openings.py."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import games
from agent import RESIGN
from config import UserError
from MCTS import Decision
from players.by_name import make_player
from players.simple import RandomPlayer
from plugins.laboratory.hex_openings import known_openings


def script(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


referees, hex_openings = script("referees"), script("hex_openings")


class Failing(RandomPlayer):
    """Loses every game by rule."""

    def act_many(self, slots, states, taus):
        return [Decision(RESIGN, np.zeros(self.game.action_size), 0.0) for _ in slots]

    def forfeit(self, slot):
        return "illegal move 'z9'"


def test_a_failing_referee_loses_by_rule_and_the_report_says_so(tmp_path):
    game = games.make("hex(size=4)")
    player = RandomPlayer(game)
    played = referees.play(game, (player, Failing(game)), 4, 2)
    assert referees.figure_of(played).startswith("4 won, 0 drawn, 0 lost: score 100 % [51, 100] (4 of 4 games ended by")
    assert referees.result_of(game, "circuit:1", played).count("lost by circuit:1: illegal move 'z9'") == 4
    other = referees.play(game, (player, make_player("circuit:1", game)), 4, 2)
    assert [g.opening for g in other] == [g.opening for g in played], "the same openings for each"
    assert "4 lost: score 0 % [0, 49]" in referees.figure_of(other) and "forfeit" not in referees.figure_of(other)
    referees.save(tmp_path, game, ("random", "circuit:1"), 1, other)
    assert len((tmp_path / "hex-1.jsonl").read_text(encoding="utf-8").splitlines()) == 4


def test_the_interval_is_that_of_pairs():
    decided = [SimpleNamespace(score=score, forfeit="") for score in 20 * [1.0, 0.0]]  # each opening by who begins
    assert "score 50 % [45, 55]" in referees.figure_of(decided)
    alike = [SimpleNamespace(score=score, forfeit="") for score in (*20 * [1.0], *20 * [0.0])]
    assert "score 50 % [30, 70]" in referees.figure_of(alike)


def test_referees_are_chosen_by_their_numbers():
    game = games.make("othello(size=6)")
    assert [number for number, _ in referees.chosen(game, [])] == [1, 2, 3, 4]
    assert referees.chosen(game, [2])[0][1].startswith("gtp:gtp-rhino")
    for other, levels in ((game, [5]), (games.make("connect4"), [])):
        with pytest.raises(UserError, match="expected"):
            referees.chosen(other, levels)


def test_openings_are_right_by_sign_and_in_order_whatever_zero_is():
    known = known_openings(7)
    values = np.where(known, 0.5, -0.5)
    assert hex_openings.right(values, known) == "49 of 49 right, order 100 %"
    assert hex_openings.right(values + 1, known) == "27 of 49 right, order 100 %"
    assert hex_openings.right(np.zeros(49), known) == "22 of 49 right, order 50 %"
    game = games.make("hex(size=5)")
    found = hex_openings.searched_values(game, make_player("circuit:1", game))
    assert found[12] > found[0] and found == pytest.approx(found[::-1], abs=0.1), "a half turn changes nothing"
