"""Names of players that are networks of runs."""

import pytest

import games
from agent import Agent
from config import UserError
from evaluation.release import pack
from initialise import Session
from interface.cli import run
from players.by_name import make_player
from support.tiny_runs import QUIET, tiny, trained_looking

pytestmark = pytest.mark.keras


@pytest.fixture
def begin(place):
    """Return f(**beginning) -> the folder of a run with a second network and no tournament; nothing is trained."""

    def start(**beginning):
        with Session.start(tiny(), console=QUIET, **beginning) as session:
            session.model.set_weights(trained_looking(session.model))
            with session.store.transaction("test"):
                session.save_version(1, 1, {})
            return session.folder

    return start


def warned(caplog, name):
    """Return what is told when a player is made."""
    caplog.clear()
    make_player(name, games.make("tictactoe"))
    return [record.getMessage() for record in caplog.records if record.name == "alphazero.players"]


def test_a_best_that_has_learned_nothing_is_told_and_what_else_there_is(begin, caplog):
    folder = begin()
    said = "run0001's best is version 0, which has learned nothing: no tournament was won yet; current is the newest"
    assert warned(caplog, "best") == warned(caplog, "net:run0001:best") == [said]
    assert warned(caplog, "current") == warned(caplog, "version0000") == []
    pack(folder, 1)
    assert warned(caplog, "best") == [f"{said}, shipped is the one that ships"]
    assert warned(caplog, "shipped") == []


def test_a_best_that_is_the_only_network_is_told_too_and_one_that_was_taken_over_is_not(begin, place, caplog):
    Session.start(tiny(), console=QUIET).close()
    (said,) = warned(caplog, "best")
    assert said == "run0001's best is version 0, which has learned nothing: no training has ended yet"
    begin()
    begin(INITIAL_RUN_NUMBER=2, INITIAL_MODEL_VERSION=1)
    assert warned(caplog, "best") == [] and warned(caplog, "run0002:best") != []


def test_a_version_that_does_not_ship_is_refused_by_the_name_of_what_does(begin, place):
    folder = begin()
    pack(folder, 1)
    folder.rename(place / "away")
    for name in ("version0003", "shipped:version0000"):
        with pytest.raises(UserError, match=f"expected version0001 of tictactoe, which ships, got {name[-11:]}$"):
            make_player(name, games.make("tictactoe"))


def test_the_name_of_a_player_makes_it_again(begin):
    pack(begin(), 1)
    game = games.make("tictactoe")
    networks = "best", "sym:current", "net:shipped", "best:2s", "sym:shipped:0.5s"
    for name in (*networks, "rollout:2s", "alphabeta:3", "greedy", "solver", "random"):
        shown = make_player(name, game).name
        assert make_player(shown, game).name == shown


def test_a_network_has_a_clock(begin, capsys):
    pack(begin(), 1)
    game = games.make("tictactoe")
    player = make_player("shipped:version0001:0.25s", game)
    assert isinstance(player, Agent) and (player.seconds, player.at_once) == (0.25, 1)
    assert run(["match", "best:0.1s", "random", "--game", "tictactoe", "--games", "2"]) == 0
    assert "run0001:version0000:0.1s" in capsys.readouterr().out
    assert run(["evaluate", "best:0.1s", "--game", "tictactoe"]) == 2
    assert "expected a network whose moves take --sims and no clock" in capsys.readouterr().err
