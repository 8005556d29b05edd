"""Games between machines on the page."""

import pytest

import games
from plugins.page import web_players

pytest.importorskip("nicegui", reason="the panel of files is a part of the page")


def test_games_between_machines_are_not_all_alike(trained, monkeypatch):
    monkeypatch.setattr(web_players, "RUNS", trained.parent.parent)
    roster, game = web_players.Roster(), games.make("tictactoe")

    def play(lots):
        player, state, moves = roster.make("run0001:best", game, "25"), game.start(), []
        while not state.isEndGame:
            moves.append(web_players.choose(player, "25", state, moves, lambda: False, lots=lots and len(moves) < 4)[0])
            state = state.takeAction(moves[-1])[0]
        return tuple(moves)

    assert len({play(True) for _ in range(12)}) > 6
    first = {roster.make("rollout", game, "25").act(game.start(), 0)[0] for _ in range(30)}
    assert len(first) > 1, "rollouts have another chance in each game"
