"""Players and games that travel as bytes: what another machine plays is what this one would."""

import pytest

from config import UserError, from_json
from evaluation.match import contest, play_batch
from evaluation.players_as_bytes import Visitor, match_game, to_bytes, traveller
from games import make
from network.cpu_features import resolve_precision
from players.by_name import make_player, network_named
from storage.run_folders import read_config

GAME = make("tictactoe")
JOBS = [(i, [4, 0][: 1 + i % 2], i % 2 == 0) for i in range(6)]
LIBRARY = "openvino"


def played_elsewhere(names, jobs=JOBS, sims=12):
    """Return the games as another machine plays them, brought back as what a match needs."""
    players = tuple(traveller(name, GAME, sims, LIBRARY) for name in names)
    visitor = Visitor(GAME)
    visitor.load(to_bytes(GAME, players, jobs, seed=3, turns_until_tau0=0))
    records = visitor.play([job[0] for job in jobs], lambda: False)
    return [match_game(GAME, job, record) for job, record in zip(jobs, records, strict=True)]


def assert_same_games(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one[:5] == other[:5]
        assert one.record.visits.tolist() == other.record.visits.tolist()
        for mine, theirs in zip(one.values, other.values, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize(
    "names",
    [("run0001:version0003", "rollout:20"), ("best", "net:current"), ("sym:current", "random"), ("rollout:20",) * 2],
)
def test_games_played_elsewhere_are_those_played_here(trained_place, names):
    here = tuple(make_player(name, GAME, sims=12, smallest=32) for name in names)
    assert_same_games(played_elsewhere(names), play_batch(GAME, here, JOBS, seed=3))


def test_a_network_travels_alone_and_without_its_run(trained_place, trained):
    found = traveller("run0001:version0002", GAME, 12, LIBRARY)
    assert found.name == "run0001:best" and "models/version0002.npz" in found.files
    assert [name for name in found.files if name.startswith("models/")] == ["models/version0002.npz"]
    settings = from_json(found.files["config.json"].decode())
    assert settings.backend == LIBRARY and settings.precision == resolve_precision(read_config(trained).precision)
    games = (trained / "run.db").stat().st_size
    assert len(found.files["run.db"]) < games
    assert traveller("rollout:20", GAME, 12, LIBRARY) == ("rollout:20", 12, {})


def test_names_keep_how_a_network_plays(trained_place):
    named = network_named("net:sym:current+book", GAME)
    assert named.version == 4 and named.called("run0001:best") == "net:sym:run0001:best+book"
    assert network_named("rollout:20", GAME) is None and network_named("level:3", GAME) is None


@pytest.mark.parametrize("name", ["human", "best:2s", "gtp:gnugo", "rollout:2s", "rollout:20+book:own.jsonl"])
def test_players_that_cannot_travel_are_refused_in_one_line(name):
    with pytest.raises(UserError, match="expected players without a clock"):
        traveller(name, GAME, 12, LIBRARY)


def test_games_end_when_they_are_to_stop():
    players = tuple(traveller(name, GAME, 1, LIBRARY) for name in ("random", "rollout:5"))
    visitor, asked = Visitor(GAME), []
    visitor.load(to_bytes(GAME, players, JOBS, seed=3, turns_until_tau0=0))
    assert visitor.play([0, 1], lambda: asked.append(0) or len(asked) > 2) == [] and len(asked) == 3


def test_files_that_would_lie_outside_of_a_runs_folder_are_refused():
    stranger = traveller("random", GAME, 1, LIBRARY)._replace(files={"../../evil": b"x"})
    with pytest.raises(UserError, match="expected files of a run's folder"):
        Visitor(GAME).load(to_bytes(GAME, (stranger, stranger), JOBS, seed=3, turns_until_tau0=0))


def test_a_contest_gives_another_machine_all_games_of_a_batch_at_once():
    calls = []

    def play(game, players, jobs, **options):
        calls.append(len(jobs))
        return play_batch(game, players, jobs, seed=options["seed"])

    players = make_player("random", GAME), make_player("rollout:5", GAME)
    players[0].at_once = 2
    scores = contest(GAME, players, 40, seed=1, opening_plies=2, batch=40, play=play)
    assert calls == [40] and scores == contest(GAME, players, 40, seed=1, opening_plies=2, batch=40)
