"""Levels of play on the page are those of the console and of matches: the same player, simulations and temperature."""

import games
from evaluation.release import pack, write_levels
from players.levels import FILE, Level
from players.tempered import TemperedPlayer
from plugins.page.web_players import Roster, choose
from storage import run_folders


def test_a_level_with_a_temperature_plays_on_the_page(trained_place, monkeypatch):
    target = pack(run_folders.find_run("tictactoe"), 4)
    levels = [
        Level("net:shipped", 0, 50.0, 9.0, 3.0, "Beginner", slips=0.4),
        Level("shipped", 12, 250.0, 9.0, 0.8, "Master"),
    ]
    write_levels(target / FILE, levels, 10)
    roster, game = Roster(), games.make("tictactoe")
    for number, level in enumerate(levels, 1):
        player = roster.make(f"level:{number}", game, "")
        assert isinstance(player, TemperedPlayer)
        assert (player.sims, player.temperature, player.slips) == (level.sims, level.temperature, level.slips)
        moves, state = [], game.start()
        while not state.isEndGame:
            moves.append(choose(player, "", state, moves, lambda: False)[0])
            state = state.takeAction(moves[-1])[0]
    starts = {choose(roster.make("level:1", game, ""), "", game.start(), [], lambda: False)[0] for _ in range(12)}
    assert len(starts) > 1, "another game each time"
