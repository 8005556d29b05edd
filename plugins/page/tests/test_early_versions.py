"""The early versions that ship: whole and small, shown and played against, and no players elsewhere."""

from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette", reason="the page's framework")

import games  # noqa: E402
from config import UserError  # noqa: E402
from loggers import read_metrics  # noqa: E402
from players.by_name import make_player  # noqa: E402
from players.levels import read_levels  # noqa: E402
from plugins.page import runs_shown, web_players  # noqa: E402
from plugins.page.tests.test_interface import facts_in, lines_of, no_preparing, run, search  # noqa: E402, F401
from storage import run_folders  # noqa: E402
from storage.run_folders import read_config  # noqa: E402
from storage.run_store import Store  # noqa: E402
from storage.verify import verify  # noqa: E402
from support.tiny_runs import tree_of  # noqa: E402

FOLDERS = sorted(run_folders.EARLY.glob("*/run0001"))
LARGEST = 4_000_000
"""Bytes of all early versions together."""


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """Nobody has trained yet."""
    monkeypatch.setattr(run_folders, "RUNS", tmp_path / "runs")


def numbers_of(folder):
    store = Store(folder / "run.db", read_only=True)
    try:
        return [row.version for row in store.versions()], {row[2] for row in store.rows("games")}
    finally:
        store.close()


def test_they_are_whole_and_small_and_each_has_games():
    assert [folder.parent.name for folder in FOLDERS] == ["connect4", "othello"]
    assert sum(path.stat().st_size for folder in FOLDERS for path in folder.rglob("*") if path.is_file()) < LARGEST
    for folder in FOLDERS:
        versions, played = numbers_of(folder)
        assert verify(folder).damage == [] and 8 <= len(versions) <= 12 and versions[0] == 0
        assert played == set(versions), "each has games"
        assert read_metrics(folder / "metrics.jsonl")[-1]["version"] == versions[-1]


def test_they_are_shown_first_where_nobody_has_trained_and_are_no_players_of_any_list(alone):
    roster = web_players.Roster(("connect4",))
    assert next(iter(web_players.named_runs())) == "early/connect4/run0001"
    assert not [name for name in roster.players("connect4") if "early" in name]
    assert roster.strongest("connect4") == "shipped/run0001:best"
    assert "early/run0001:version0000" in roster.networks("connect4")
    assert all(level.player in ("net:shipped", "shipped") for level in read_levels("connect4"))
    with pytest.raises(UserError, match="there is none"):
        make_player("run0001:version0000", games.make("connect4"))
    with pytest.raises(LookupError):
        runs_shown.resumed("run0001", "connect4", roster)
    with pytest.raises(LookupError):
        runs_shown.resumed("early/connect4/run0001", "connect4", roster)


def test_a_run_is_resumed_by_its_name_or_that_of_its_folder(trained_place):
    roster = web_players.Roster(("tictactoe",))
    for name in "run0001", "tictactoe/run0001":
        assert runs_shown.resumed(name, "tictactoe", roster) == ("tictactoe", ["--run", "1"])
    with pytest.raises(LookupError):
        runs_shown.resumed("tictactoe/run0001", "connect4", roster)


def test_a_version_is_seen_to_learn_and_is_played_against_and_nothing_is_written(alone, no_preparing):  # noqa: F811
    folder = FOLDERS[0]
    before, (versions, _), name = tree_of(folder), numbers_of(folder), "early/connect4/run0001"
    first, last = versions[0], versions[-1]

    async def script(client, interface):
        async def get(path, **values):
            return (await client.get(f"/api/{path}?{urlencode({'name': name, **values})}")).json()

        listed = (await client.get("/api/runs")).json()["runs"][0]
        assert listed["ships"] and listed["games"] and listed["label"] == "Connect 4, early versions"
        found = await get("versions")
        assert found["versions"] == versions and found["games"]["0"] == 0 < found["games"][str(last)]
        known = (await get("milestones"))["shares"]
        for kind in ("win", "stop"):
            assert known[str(first)][kind] < 0.5 and known[str(last)][kind] > 0.8, (kind, known)
        for position in ("win", "stop", "three"):
            look = await get("look", version=first, position=position)
            assert str(max(look["policy"], key=look["policy"].get)) not in map(str, look["right"]) != []
        assert look["url"] == f"/play/connect4?player=early/run0001:version{first:04}"
        start = (await get("look", version=last))["policy"]
        assert max(start, key=start.get) == "3", "the centre"
        stored = await get("games", version=last)
        assert stored["count"] >= 3 and all(game["versions"] == [last] for game in stored["games"])
        facts = facts_in(await client.get(look["url"]))
        assert facts["player"]["early"] and facts["player"]["version"] == first and facts.get("engine") != "server"
        assert not facts["levels"], "the levels are those of the player that ships"
        given = {"game": "connect4", "moves": [], "player": f"early/run0001:version{last:04}", "sims": 20}
        async with search(client, "move", given) as messages:
            assert (await lines_of(messages))[-1]["action"] in range(7)

    run(script, "connect4")
    assert tree_of(folder) == before and read_config(folder).game == "connect4"


def test_those_of_othello_learn_endings_and_are_played_against(alone, no_preparing):  # noqa: F811
    (versions, _), name = numbers_of(FOLDERS[1]), "early/othello/run0001"

    async def script(client, interface):
        known = (await client.get(f"/api/milestones?name={name}")).json()["shares"]
        shares = [known[str(version)]["solved"] for version in versions]
        assert max(shares[:2]) < 0.6 and min(shares[-3:]) > 0.7, shares
        facts = facts_in(await client.get(f"/play/othello?player=early/run0001:version{versions[0]:04}"))
        assert facts["player"]["early"] and facts["player"]["version"] == 0 and facts.get("engine") != "server"

    run(script, "othello")


def test_a_run_of_the_user_s_comes_before_them(trained_place, monkeypatch):
    monkeypatch.setattr(run_folders, "EARLY", FOLDERS[0].parents[1])
    assert list(web_players.named_runs()) == ["tictactoe/run0001", "early/connect4/run0001", "early/othello/run0001"]
