"""Matches, evaluations and the ladder on a cluster are those of one machine; its Ray is one of threads."""

import json

import pytest

from config import UserError
from evaluation.match import play_batch
from games import make
from interface.cli import run
from players.by_name import make_player
from plugins.cluster import actor as cluster_actor
from plugins.cluster import cluster
from plugins.cluster import handle as cluster_handle
from plugins.cluster import match as cluster_match
from plugins.cluster.actor import GameActor
from plugins.cluster.match import ClusterMatches
from plugins.cluster.tests.fake_ray import FakeRay
from support.command_line import output_of

GAME = make("tictactoe")


class Actor(GameActor):
    """An actor as it is; the facts of its machine are true."""

    def __init__(self, facts):
        super().__init__()


@pytest.fixture
def ray(monkeypatch):
    """Return a cluster of three machines, to which every command with --cluster connects."""
    found = FakeRay()
    monkeypatch.setattr(cluster, "_connect", lambda *_: found)
    monkeypatch.setattr(cluster, "LOOK", 0.0)
    monkeypatch.setattr(cluster_handle, "ASK_AGAIN", 0.01)
    monkeypatch.setattr(cluster_actor, "GATHER", 0.0)
    made = cluster_match.Cluster
    monkeypatch.setattr(cluster_match, "Cluster", lambda *args, **options: made(*args, **options, actor=Actor))
    monkeypatch.setattr("system.processes._counted_on", None)
    return found


@pytest.fixture
def one_cluster(ray):
    """Return what plays games on the cluster."""
    joined = cluster_match.connect("auto", 0, print)
    matches = ClusterMatches(joined, GAME, print)
    yield matches
    matches.close()
    joined.close()


JOBS = [(i, [4, 0][: 1 + i % 2], i % 2 == 0) for i in range(20)]


def players():
    return make_player("shipped", GAME, sims=8, smallest=32), make_player("rollout:20", GAME)


def assert_same_games(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one[:5] == other[:5] and one.record.visits.tolist() == other.record.visits.tolist()


def test_games_are_those_of_one_machine_though_machines_are_lost(ray, one_cluster):
    one, other = players()
    one_cluster.know(one, "shipped", 8)
    seen = []

    def report(done):
        if not seen:
            ray.leave(next(actor.machine for actor in ray.actors if actor.machine))
            ray.join("new")
        seen.append(done)

    found = one_cluster.play(GAME, (one, other), JOBS, seed=3, report=report)
    assert_same_games(found, play_batch(GAME, (one, other), JOBS, seed=3))
    assert seen == list(range(1, 21)) and one_cluster.play(GAME, (one, other), [], seed=3) == []


def test_the_same_players_play_one_match_after_the_other(ray, one_cluster):
    one, other = players()
    one_cluster.know(one, "shipped", 8)
    for seed in (1, 2):
        found = one_cluster.play(GAME, (one, other), JOBS[:6], seed=seed)
        assert_same_games(found, play_batch(GAME, (one, other), JOBS[:6], seed=seed))
    assert len(ray.actors) == 3


def test_a_person_cannot_play_on_a_cluster(one_cluster):
    with pytest.raises(UserError, match="expected players without a clock"):
        one_cluster.know(make_player("human", GAME), "human", 8)


@pytest.mark.parametrize(
    "command",
    [
        ["match", "shipped", "rollout:20", "--game", "tictactoe", "--games", "24", "--sims", "8", "--json"],
        ["match", "shipped", "random", "--game", "tictactoe", "--games", "64", "--sims", "4", "--sprt", "--json"],
        ["evaluate", "shipped", "--game", "tictactoe", "--positions", "0", "--ladder-games", "32", "--ladder-sims", "8",
         "--json"],
    ],
    ids=["match", "sprt", "ladder"],
)  # fmt: skip
def test_a_command_says_the_same_on_a_cluster(ray, capsys, command):
    assert run(command) == 0
    alone = json.loads(capsys.readouterr().out)
    assert run([*command, "--cluster", "auto"]) == 0
    assert json.loads(capsys.readouterr().out) == alone
    assert ray.actors and all(actor.machine is None for actor in ray.actors)


def test_options_of_a_cluster_without_one_are_refused(capsys):
    for command in (["match", "random", "greedy", "--game", "tictactoe"], ["--game", "tictactoe", "--new"]):
        for option in (["--cluster-cores", "2"], ["--cluster-without-token"]):
            assert run([*command, *option]) == 2
            assert capsys.readouterr().err == f"error: expected {option[0]} together with --cluster\n"


def test_a_cluster_that_is_not_there_is_one_line_and_no_file_is_begun(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    argv = ["match", "random", "random", "--save", "new.jsonl", "--cluster", "nowhere"]
    code, out, err = output_of(capsys, *argv)
    assert (code, out) == (2, "") and "nowhere" in err and err.count("\n") == 1 and list(tmp_path.iterdir()) == []
