"""Score lead and territory on the page: only of a network that learned who owns each point."""

import re

import numpy as np

import games
from network.stored_network import StoredNetwork
from plugins.engines.serving import PlayerSource
from plugins.page.search_view import overlays
from plugins.page.territory_view import counted, lead_html, territory_of
from plugins.pictures.board_svg import board_svg
from support.tiny_runs import tiny


def analyst(game, weight=0.5):
    """Return the shipped player of a game, with a network that has an ownership head unless its weight is 0."""
    player = PlayerSource("shipped", sims=16).player(game)
    config = tiny(game=game.spec, ownership_weight=weight)
    player.model, rng = StoredNetwork(config, game), np.random.default_rng(0)
    player.model.set_weights([rng.normal(0.0, 0.3, shape).astype(np.float32) ** 2 for shape in player.model.shapes])
    return player


def test_a_network_that_learned_it_says_who_owns_what_and_who_leads():
    game = games.make("go")
    territory = territory_of(player := analyst(game), game)
    state = game.start().takeAction(12)[0]
    player.think(state, 16)
    found = counted(territory, state)
    assert sorted(found["owned"]) == list(range(25)) and all(abs(owner) <= 1 for owner in found["owned"].values())
    assert abs(sum(found["owned"].values()) - game.komi - found["lead"]) < 1e-9


def test_nothing_is_said_of_any_other_player_or_game():
    game = games.make("go")
    assert territory_of(analyst(game, 0.0), game) is None
    assert territory_of(PlayerSource("rollout:8", sims=8).player(game), game) is None
    assert territory_of(analyst(games.make("othello")), games.make("othello")) is None
    assert "owned" not in overlays(False) and overlays(True)["owned"] == "Territory"


def test_the_lead_is_named_by_side():
    assert "Black leads by 3.5 points." in lead_html(3.46, ("Black", "White"))
    assert "<b> leads" not in lead_html(-1.0, ("Black", "<b>")) and "leads by 1.0" in lead_html(-1.0, ("Black", "<b>"))


def test_what_is_owned_is_drawn_as_squares_the_larger_the_surer():
    state = games.make("go").start()
    drawn = board_svg(state, owned={0: 1.0, 1: -0.5, 2: 0.05})
    squares = re.findall(r'class="owned" x="([0-9.]+)" y="[0-9.]+" width="([0-9.]+)".*? fill="([^"]+)"', drawn)
    assert len(squares) == 2 and float(squares[0][1]) > float(squares[1][1]) and squares[0][2] != squares[1][2]
    assert 'class="owned"' not in board_svg(state)
