"""Openings that a player holds for even: by exact values, the same ones again, and what `match` says of them."""

import json

import pytest

from evaluation.openings import EVEN, even_openings, identity
from game import GameState
from players.by_name import make_player
from players.simple import RandomPlayer, SimplePlayer
from support.command_line import output_of
from support.search_cases import GAMES

GAME = GAMES["tictactoe"]


def exact(state: GameState) -> float:
    """Return the value for the player to move, by trying everything."""
    if state.isEndGame:
        return float(state.value)
    return max(-exact(state.takeAction(action)[0]) for action in state.allowedActions)


def after(moves):
    state = GAME.start()
    for action in moves:
        state = state.takeAction(action)[0]
    return state


def test_even_openings_of_a_perfect_player_are_draws_and_it_finds_all():
    found = even_openings(GAME, 60, make_player("solver", GAME), plies=3, seed=0)
    assert {exact(after(moves)) for moves in found} == {0.0} and {len(moves) for moves in found} == {3}
    lines = [[a, b, c] for a in range(9) for b in range(9) for c in range(9) if len({a, b, c}) == 3]
    draws = {identity(GAME, after(moves)) for moves in lines if exact(after(moves)) == 0.0}
    assert {identity(GAME, after(moves)) for moves in found} == draws and len(found) == len(draws)


class Counts(SimplePlayer):
    """Holds a position for what its cells add up to, and notes how many it is given at once."""

    def __init__(self, game, at_once):
        super().__init__("counts", game)
        self.at_once, self.most = at_once, 0

    def act_many(self, slots, states, taus):
        self.most = max(self.most, len(states))
        return super().act_many(slots, states, taus)

    def choose(self, state, rng):
        return state.allowedActions[0], (sum(state.allowedActions) % 9 - 4) / 8


@pytest.mark.parametrize("plies", [3, 4])
def test_they_depend_on_the_seed_and_not_on_how_many_are_judged_at_once(plies):
    one, many, reports = Counts(GAME, 1), Counts(GAME, 64), []
    found = even_openings(GAME, 12, many, plies=plies, seed=3, report=reports.append)
    assert found == even_openings(GAME, 12, one, plies=plies, seed=3) and (one.most, many.most) == (1, 12)
    assert found != even_openings(GAME, 12, many, plies=plies, seed=4)
    assert reports[-1] == len(found) == 12 and reports == sorted(reports)
    assert all(abs(many.choose(after(moves), None)[1]) <= EVEN for moves in found)
    assert len({identity(GAME, after(moves)) for moves in found}) == 12


def test_a_player_who_leads_everywhere_finds_none():
    class Leads(RandomPlayer):
        def choose(self, state, rng):
            return state.allowedActions[0], EVEN + 0.01

    assert even_openings(GAME, 5, Leads(GAME), plies=2, seed=0) == []


def test_a_match_from_even_openings_says_so(capsys):
    argv = ("match", "random", "random", "--game", "tictactoe", "--opening-plies", "3", "--even-by", "solver")
    code, out, err = output_of(capsys, *argv, "--games", "8")
    assert code == 0 and "openings of 3 random plies that solver holds for even; the interval" in out
    code, out, err = output_of(capsys, *argv, "--games", "400", "--json")
    found = json.loads(out)
    assert code == 0 and found["even_by"] == "solver" and found["games"] < found["asked"] == 400
    code, out, err = output_of(capsys, *argv, "--games", "400")
    assert f"{found['games']} of 400 games: there are no more openings that differ and are even" in out


REFUSED = [
    (("--even-by", "random", "--game", "tictactoe"), "even_by: expected a player that has values of its own"),
    (("--even-by", "human", "--game", "tictactoe"), "even_by: expected a player that has values of its own"),
    (("--even-by", "solver", "--opening-plies", "1", "--game", "hex(size=3)"), "holds none for even"),
]


@pytest.mark.parametrize("options, words", REFUSED, ids=lambda v: v[1] if isinstance(v, tuple) else "")
def test_who_has_no_values_or_finds_none_even_ends_it_in_one_line(options, words, capsys):
    code, out, err = output_of(capsys, "match", "random", "random", *options)
    assert code == 2 and out == "" and words in err and err.count("\n") == 1
