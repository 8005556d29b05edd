"""Players by name: a best that has learned nothing is told, what ships is named, and names are read back."""

import pytest

import games
from arguments import NETWORKS, PLAYERS
from config import UserError
from initialise import Session
from lineup import make_player
from shipping import pack
from tiny import QUIET, tiny, trained_looking


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
    return [record.getMessage() for record in caplog.records if record.name == "alphazero.lineup"]


def test_a_best_that_has_learned_nothing_is_told_and_what_else_there_is(begin, caplog):
    folder = begin()
    said = "run0001's best is version 0, which has learned nothing: no tournament was won yet; current is the newest"
    assert warned(caplog, "best") == warned(caplog, "net:run0001:best") == [said]
    assert warned(caplog, "current") == warned(caplog, "version0000") == []
    pack(folder, 1)
    assert warned(caplog, "best") == [f"{said}, shipped the one that comes along"]
    assert warned(caplog, "shipped") == []


def test_a_best_that_is_the_only_network_or_was_taken_over_is_not_told(begin, place, caplog):
    Session.start(tiny(), console=QUIET).close()
    assert warned(caplog, "best") == []
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
    for name in ("best", "sym:current", "net:shipped", "rollout:2s", "alphabeta:3", "greedy", "solver", "random"):
        shown = make_player(name, game).name
        assert make_player(shown, game).name == shown


def test_every_form_that_is_shown_is_one():
    known = PLAYERS.split(", ")
    assert set(NETWORKS.split(", ")) < set(known) and len(known) == 20
    for name in known:
        try:
            make_player(name, games.make("tictactoe"))
        except UserError as error:
            assert "expected a player such as" not in str(error), name


@pytest.mark.parametrize("name", ["rolout:500", "random:5", "run0001:5", "uct:2s", "level", "shipped:version"])
def test_a_name_that_is_nearly_one_is_refused_with_those_there_are(name):
    with pytest.raises(UserError, match="expected a "):
        make_player(name, games.make("tictactoe"))
