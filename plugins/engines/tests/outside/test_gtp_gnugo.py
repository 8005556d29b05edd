"""GNU Go, and GRhino for Othello, as players: whole games by the rules."""

import logging
import shutil

import pytest

import games
from funcs import playMatches
from players.by_name import make_player
from players.simple import RandomPlayer
from plugins.engines.programs.gtp import FOLDERS

LOG = logging.Logger("test")
RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path=FOLDERS)
GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path=FOLDERS)


@pytest.mark.skipif(GNUGO is None, reason="gnugo is not installed")
@pytest.mark.parametrize("spec", ["go(size=5)", "littlego"])
def test_gnugo_plays_whole_games_by_the_rules(spec, caplog):
    game = games.make(spec)
    player = make_player("gtp:gnugo", game)
    result = playMatches(game, player, RandomPlayer(game), 4, LOG, 0, opening_plies=2)
    assert "loses" not in caplog.text and result.scores[player.name] > 0  # it passes before all dead stones are taken


@pytest.mark.skipif(RHINO is None, reason="grhino is not installed")
def test_grhino_plays_whole_games_of_othello_and_passes_by_itself(caplog):
    game = games.make("othello")
    player = make_player("gtp:gtp-rhino -l 1", game)
    result = playMatches(game, player, RandomPlayer(game), 10, LOG, 0, opening_plies=2)
    assert "loses" not in caplog.text and result.scores[player.name] > 5
    assert result.forfeits == {player.name: 0, "random": 0}
