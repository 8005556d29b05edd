"""Engines of games without a run of their own: a network of many sizes evaluates for them."""

import pytest

import games
from evaluation.release import pack
from plugins.engines.serving import PlayerSource
from support.run_states import untrained

pytestmark = pytest.mark.keras


def test_it_evaluates_for_engines_where_other_rules_have_no_network(place):
    pack(untrained("gomoku(size=5..7)"), 1)
    source = PlayerSource("best", sims=8)
    for size, learned in (6, "6"), (8, "5..7"):
        game = games.make(f"gomoku(size={size},rule=renju)")
        assert source.player(game).act(game.start(), 0)[0] in range(size * size)
        assert source.note == f"no network was trained for {game.spec}: that of gomoku(size={learned}) evaluates"
