"""The interface: what it answers, how it refuses what is wrong, and that nothing piles up in it."""

import asyncio
import json
import re
import shutil
import threading
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="the page's framework")
from starlette.applications import Starlette  # noqa: E402

from plugins.page import feeds, game_pages, searches  # noqa: E402
from plugins.page.interface import Interface  # noqa: E402
from plugins.page.request_guard import Guard  # noqa: E402
from plugins.page.tests.asgi_client import HOST, PORT, TOKEN, Client, posting, scope_of  # noqa: E402
from storage import run_folders  # noqa: E402

OWN = "import games.tictactoe\nopen({!r}, 'w').close()\nclass Mine(games.tictactoe.TicTacToe): pass\n"
READ = (
    "home",
    "runs",
    "run?name=tictactoe/run0001",
    "versions?name=tictactoe/run0001",
    "games?name=tictactoe/run0001",
    "options",
    "options?game=tictactoe",
    "options?game=tictactoe&minutes=2",
    "players?game=tictactoe",
    "game?name=tictactoe/run0001&iteration=1&number=0",
)


@pytest.fixture
def no_preparing(monkeypatch):
    """No process compiles code: the tests' own process has it."""
    monkeypatch.setattr("plugins.page.preparing.Preparations.begin", lambda self, spec: None)


def run(script, spec="tictactoe"):
    """Run script(client, interface) with a server's application."""

    async def main():
        interface = Interface(spec)
        app = Starlette(routes=interface.routes(), exception_handlers=interface.faults())
        guard = Guard(app, hosts=[HOST], token=TOKEN, port=PORT)
        try:
            return await script(Client(guard), interface)
        finally:
            interface.close()

    return asyncio.run(main())


@asynccontextmanager
async def search(client, kind, values, tab="a"):
    """Yield the messages of a search's answer."""
    body = json.dumps(values).encode()
    scope = scope_of(f"/api/{kind}", "POST", headers=posting(body, x_tab=tab))
    async with client.stream(scope, body) as messages:
        yield messages


async def lines_of(messages):
    """Return the lines of an answer, when it has ended."""
    text = b""
    while True:
        message = await asyncio.wait_for(messages.get(), 120)
        if message["type"] == "http.response.body":
            text += message.get("body", b"")
            if not message.get("more_body"):
                return [json.loads(line) for line in text.splitlines()]


# ---- what is answered


def test_all_that_is_read_is_answered_and_nothing_of_the_disk_stands_in_it(trained_place):
    async def script(client, interface):
        return [(path, await client.get(f"/api/{path}")) for path in READ]

    for path, answer in run(script):
        assert answer.status == 200, (path, answer.body)
        assert str(trained_place).encode() not in answer.body, path
        assert answer.headers[b"cache-control"] == b"no-store"


def test_the_first_screen_has_what_ships_and_what_was_trained(trained_place, monkeypatch):
    async def script(client, interface):
        return (await client.get("/api/home")).json()

    found = run(script, "tictactoe")
    groups = {group["key"]: {tile["spec"]: tile for tile in group["tiles"]} for group in found["groups"]}
    assert list(groups) == ["now", "yours", "sizes"] and "connect4" in groups["now"]
    mine = groups["yours"]["tictactoe"]
    assert mine["yours"]["run"] == "run0001" and mine["yours"]["version"] in range(1, 5)
    assert re.fullmatch(r"/play/tictactoe\?player=run0001:(best|version000[1-4])", mine["url"])
    assert mine["name"] == {"en": "Tic-tac-toe", "zh": "井字棋"} and len(mine["start"]["cells"]) == 9
    assert all(tile["drawing"]["places"] for group in groups.values() for tile in group.values())


def test_a_run_is_shown_with_its_curves_its_newest_game_and_its_log(trained_place):
    async def script(client, interface):
        one = (await client.get("/api/run?name=tictactoe/run0001&compare=tictactoe/run0001&lang=zh")).json()
        assert (await client.get("/api/run?name=tictactoe/run0009")).status == 404
        return one

    one = run(script)
    assert one["words"] == "已完成，共 4 轮" or "4" in one["words"]
    assert [curve["key"] for curve in one["curves"]][0] == "elo" and one["curves"][0]["first"]
    assert all(curve["svg"].startswith("<svg") for curve in one["curves"]) and one["log"]
    newest = one["newest"]
    assert len(newest["positions"]) == len(newest["moves"]) + 1 == len(newest["actions"]) + 1
    assert sum(map(bool, newest["positions"][-1])) == len(newest["moves"]) and one["board"]["sideNames"]["en"]


def test_stored_games_are_listed_in_pages_and_pass_filters(trained_place):
    async def script(client, interface):
        async def games(query):
            return (await client.get(f"/api/games?name=tictactoe/run0001&{query}")).json()

        every, first = await games("iteration=all"), await games("iteration=1")
        assert every["count"] == 96 and every["more"] and len(every["games"]) == 24
        assert every["iterations"] == [4, 3, 2, 1] and every["versions"] == [3, 2, 1, 0]
        assert first["count"] == 24 and not first["more"] and {g["iteration"] for g in first["games"]} == {1}
        last = await games("iteration=all&from=72")
        assert len(last["games"]) == 24 and not last["more"]
        draws = await games("result=0")
        assert {game["result"] for game in draws["games"]} <= {0.0} and draws["count"] < 96
        long = await games("least=9&version=2")
        assert all(game["length"] == 9 and game["versions"] == [2] for game in long["games"])
        one = every["games"][0]
        assert one["url"] == f"/play/tictactoe?record=tictactoe/run0001,{one['iteration']},{one['number']},self-play"
        again = (
            await client.get(
                f"/api/game?name=tictactoe/run0001&iteration={one['iteration']}&number={one['number']}&kind=self-play"
            )
        ).json()
        assert again["positions"][-1] == one["cells"] and len(again["moves"]) == one["length"]
        matches = (await games("kind=tournament&iteration=all"))["games"]
        assert matches and all(len(game["versions"]) == 2 for game in matches)

    run(script)


def test_a_version_looks_at_a_position_and_milestones_are_said(trained_place):
    async def script(client, interface):
        at = "/api/look?name=tictactoe/run0001&version="
        look = (await client.get(f"{at}4")).json()
        assert sum(look["policy"].values()) == pytest.approx(1, abs=1e-3) and len(look["names"]) == 9
        assert look["url"] == "/play/tictactoe?player=run0001:version0004" and look["points"]["4"] == 4
        win = (await client.get(f"{at}4&position=win")).json()
        assert win["position"]["cells"] != look["position"]["cells"]
        moved = (await client.get(f"{at}0&position=moves&moves=b2+a1")).json()
        assert sum(map(abs, moved["position"]["cells"])) == 2
        assert (await client.get(f"{at}4&position=moves&moves=b2+b2")).status == 400
        assert (await client.get(f"{at}9")).status == 404
        found = (await client.get("/api/milestones?name=tictactoe/run0001")).json()["words"]
        assert all(one["text"] and one["version"] in range(5) for one in found)

    run(script)


def test_views_are_pages_that_load_nothing_from_elsewhere(trained_place):
    async def script(client, interface):
        return [await client.get(path) for path in ("/", "/games", "/training")]

    for answer in run(script):
        assert answer.status == 200 and answer.body.startswith(b"<!doctype html>")
        policy = answer.headers[b"content-security-policy"].decode()
        assert policy.startswith("default-src 'none'; script-src 'sha256-") and "frame-ancestors 'none'" in policy
        assert "connect-src 'self'" in policy and "unsafe-inline" not in policy and TOKEN.encode() not in answer.body


# ---- games' pages


def test_a_page_is_made_once_and_kept_in_memory_and_on_disk(trained_place, tmp_path, monkeypatch):
    monkeypatch.setattr(game_pages.cache_folder, "FOLDER", tmp_path)
    made, real = [], game_pages.made

    def count(game, player):
        made.append((game.spec, player))
        return real(game, player)

    monkeypatch.setattr(game_pages, "made", count)

    async def script(client, interface):
        pages = await asyncio.gather(*(client.get("/play/tictactoe") for _ in range(5)))
        pages.append(await client.get("/play/tictactoe?player=run0001:best"))
        assert (await client.get("/play/tictactoe?player=run0009:best")).status == 400
        return pages

    first = run(script)
    assert made == [("tictactoe", "run0001:best")] and len({page.body for page in first}) == 1
    facts = facts_in(first[0])
    assert facts["server"] and facts["player"]["name"].startswith("run0001:version") and facts["player"]["ownNetwork"]
    assert run(script)[0].body == first[0].body and len(made) == 1, "another server reads it from the disk"
    (kept,) = tmp_path.glob("page-*")
    kept.write_bytes(kept.read_bytes()[:-9])
    assert run(script)[0].body == first[0].body and len(made) == 2, "a damaged one is made again"


def example(folder, file):
    """Return the path of a copy of an example."""
    return shutil.copy(Path(__file__).parents[3] / "examples" / file, folder)


def facts_in(page):
    """Return the facts of a page."""
    return json.loads(page.body.split(b'id="facts">')[1].split(b"</script>")[0])


def test_a_game_without_a_board_to_draw_is_shown_as_its_text(place, tmp_path, no_preparing):
    spec = f"{example(tmp_path, 'nim.py')}:Nim"

    async def script(client, interface):
        facts = facts_in(await client.get(f"/play/{run_folders.game_folder(spec)}"))
        assert facts["drawing"] is None and facts["look"] == "text" and facts["rows"] == facts["columns"] == 0
        given = {"game": facts["spec"], "moves": facts["start"]["legal"][:1], "from": 0}
        found = (await client.post("/api/follow", given)).json()
        texts = [position["text"] for position in found["positions"]]
        assert texts[0] == facts["start"]["text"] != texts[1]

    run(script, spec)


def test_a_game_in_plain_python_has_a_page_that_the_server_plays_for(place, tmp_path, no_preparing):
    spec = f"{example(tmp_path, 'breakthrough.py')}:Breakthrough"

    async def script(client, interface):
        page = await client.get(f"/play/{run_folders.game_folder(spec)}")
        assert page.status == 200, page.body
        facts = facts_in(page)
        assert facts["engine"] == "server"
        assert [level["player"] for level in facts["levels"]][:2] == ["random", "rollout"]
        assert facts["spec"] == "breakthrough.py:Breakthrough" and str(tmp_path).encode() not in page.body
        async with search(client, "move", {"game": facts["spec"], "moves": [], "player": "random"}) as messages:
            (line,) = await lines_of(messages)
        assert line["action"] in facts["start"]["legal"]

    run(script, spec)


@pytest.mark.parametrize("name", ["nonsense", "evil.py:Game", "open_spiel:nothing", "../x", "a" * 400, "connect4(", ""])
def test_pages_of_what_is_no_game_are_refused_in_a_line(place, name):
    async def script(client, interface):
        return await client.get(f"/play/{name}")

    answer = run(script)
    assert answer.status in (400, 404) and answer.body.count(b"\n") == 0 and len(answer.body) < 400


# ---- files of others


def test_a_file_of_rules_is_run_only_when_the_command_line_named_it(place, tmp_path, trained):
    own, ran = tmp_path / "mine.py", tmp_path / "ran"
    own.write_text(OWN.format(str(ran)))
    spec = f"{own}:Mine"
    folder = place / run_folders.game_folder(spec) / "run0001"
    shutil.copytree(trained, folder)
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"game": spec}))
    name = f"{folder.parent.name}/run0001"

    async def script(client, interface):
        statuses = []
        for path in (
            "home",
            "runs",
            f"run?name={name}",
            f"games?name={name}",
            f"versions?name={name}",
            f"look?name={name}&version=4",
            f"milestones?name={name}",
            f"options?game={spec}",
            f"players?game={spec}",
            f"game?name={name}&iteration=1&number=0",
        ):
            statuses.append((await client.get(f"/api/{path}")).status)
        statuses.append((await client.get(f"/play/{folder.parent.name}")).status)
        for deed in ("follow", "setup", "exact", "move", "search", "train", "stop"):
            given = {"game": spec, "moves": [], "cells": [0] * 9, "player": 1, "preset": "tiny", "resume": "run0001"}
            statuses.append((await client.post(f"/api/{deed}", given)).status)
        return statuses

    statuses = run(script, "connect4")
    assert not ran.exists() and set(statuses) <= {200, 400, 409}
    assert statuses[:3] == [200, 200, 200] and set(statuses[3:4] + statuses[5:11]) == {400}


# ---- what is wrong


WRONG = [
    b"",
    b"[]",
    b"1",
    b"null",
    b"{",
    b"\xff\xfe",
    b'{"game": NaN}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"game": "tictactoe", "moves": [' + b"9" * 5000 + b"]}",
    b'{"game": "tictactoe", "moves": [1e999]}',
]
VALUES = [None, True, -1, 10**30, 1.5, "x", "\n", "a" * 1000, [], [[]], {}, [None], [True], [10**20], ["1"], [0] * 9000]


def test_what_is_no_json_of_ours_is_refused_in_a_line(place):
    async def script(client, interface):
        for deed in ("follow", "setup", "exact", "move", "search", "train", "stop"):
            for body in WRONG:
                answer = await client.post(f"/api/{deed}", body)
                assert answer.status in (400, 413), (deed, body[:60])
                assert b"\n" not in answer.body and len(answer.body) < 300

    run(script)


def test_values_of_any_kind_are_answered_or_refused_and_never_a_fault_of_ours(place, no_preparing):
    good = {
        "follow": {"game": "tictactoe", "moves": [4], "from": 0, "setup": None},
        "setup": {"game": "gomoku", "cells": [0] * 81, "player": 1},
        "exact": {"game": "tictactoe", "moves": [4], "setup": None},
        "move": {"game": "tictactoe", "moves": [4], "player": "random", "sims": 1, "seconds": None, "setup": None},
        "search": {"game": "tictactoe", "moves": [4], "player": "rollout", "sims": 4, "setup": None},
        "train": {"game": "tictactoe", "preset": "none", "minutes": 1, "resume": None},
        "stop": {"game": "tictactoe"},
    }

    async def script(client, interface):
        assert (await client.post("/api/follow", good["follow"])).status == 200
        for deed, values in good.items():
            for name in values:
                for value in [*VALUES, {"cells": value_of(name), "player": 5}]:
                    if deed == "train" and name == "preset":
                        continue
                    answer = await client.post(f"/api/{deed}", values | {name: value})
                    assert answer.status in (200, 400, 404, 409), (deed, name, value, answer.body)
                    assert answer.status == 200 or "\n" not in answer.error

    def value_of(name):
        return [0] * 3

    run(script)


def test_addresses_of_any_kind_are_answered_or_refused(trained_place):
    queries = [
        "",
        "name=",
        "name=../x",
        "name=tictactoe/run0001&version=x",
        "name=tictactoe/run0001&version=-1",
        "name=tictactoe/run0001&iteration=" + "9" * 40,
        "name=tictactoe/run0001&iteration=one&number=1e9",
        "name=tictactoe/run0001&kind=other",
        "name=tictactoe/run0001&result=7",
        "game=evil.py:Game",
        "name=tictactoe/run0001&from=-1",
        "name=%00",
        "name=" + "a" * 4000,
        "name=tictactoe/run0001&compare=x",
        "name=shipped/tictactoe/run0001&lang=../../x",
        "game=%F0%9F%98%80",
        "&".join(["a=b"] * 30),
    ]

    async def script(client, interface):
        for path in ("run", "versions", "look", "games", "game", "options", "players", "milestones"):
            for query in queries if path != "milestones" else queries[:3]:
                answer = await client.get(f"/api/{path}?{query}")
                assert answer.status in (200, 400, 404), (path, query, answer.body)
                assert answer.status == 200 or ("\n" not in answer.error and len(answer.error) < 400)
        assert (await client.get("/api/nothing")).status == (await client.get("/x")).status == 404

    run(script)


# ---- searches


class Slow:
    """A search that lasts until it is stopped."""

    def __init__(self):
        self.began, self.ended = threading.Semaphore(0), threading.Semaphore(0)

    def __call__(self, work, stop, shown):
        self.began.release()
        shown[:] = [{"visits": 1}]
        while not stop():
            threading.Event().wait(0.005)
        self.ended.release()
        return {"stopped": True}


@pytest.fixture
def slow(monkeypatch, no_preparing, place):
    found = Slow()
    monkeypatch.setattr(searches.MoveWork, "search", lambda self, stop, shown: found(self, stop, shown))
    monkeypatch.setattr(searches, "EVERY", 0.01)
    return found


MOVE = {"game": "tictactoe", "moves": [], "player": "random"}


def test_a_page_that_is_closed_ends_its_search(slow):
    async def script(client, interface):
        async with search(client, "move", MOVE) as messages:
            assert await asyncio.to_thread(slow.began.acquire, timeout=60)
            while "progress" not in (await messages.get()).get("body", b"").decode():
                pass
        assert await asyncio.to_thread(slow.ended.acquire, timeout=60)
        assert interface.parts.searches.count == 0

    run(script)


def test_a_page_has_one_search_and_all_have_so_many_and_one_more_is_refused(slow):
    async def script(client, interface):
        async with search(client, "move", MOVE, "one"):
            assert await asyncio.to_thread(slow.began.acquire, timeout=60)
            async with search(client, "move", MOVE, "one"):
                assert await asyncio.to_thread(slow.ended.acquire, timeout=60), "the page's search before it"
                assert await asyncio.to_thread(slow.began.acquire, timeout=60)
                open_ = [search(client, "move", MOVE, f"tab {i}") for i in range(searches.WAITING - 1)]
                entered = [await each.__aenter__() for each in open_]
                while interface.parts.searches.count < searches.WAITING:
                    await asyncio.sleep(0.01)
                refused = await client.post("/api/move", MOVE, x_tab="too many")
                assert refused.status == 429 and "at most" in refused.error
                assert (await client.get("/api/players?game=tictactoe")).status == 200, "other answers come"
                for each in open_:
                    await each.__aexit__(None, None, None)
                assert len(entered) == searches.WAITING - 1
        assert interface.parts.searches.count == 0

    run(script)


def test_a_search_reports_on_the_way_and_ends_with_an_opinion(place, no_preparing, monkeypatch):
    monkeypatch.setattr(searches, "EVERY", 0.001)

    async def script(client, interface):
        given = {"game": "connect4", "moves": [3], "player": "rollout", "sims": 20_000}
        async with search(client, "search", given) as messages:
            lines = await lines_of(messages)
        *progress, end = lines
        assert all(0 < one["progress"]["visits"] <= 20_000 for one in progress)
        assert end["visits"] == 20_000 and not end["stopped"] and end["opinion"]["best"] in range(7)
        assert sum(end["opinion"]["visits"]) > 15_000
        for parent, action, visits, value, prior in end["opinion"]["tree"]:
            assert parent < len(end["opinion"]["tree"]) and action in range(7) and -1 <= value <= 1 >= prior >= 0
            assert parent >= 0 or visits == end["opinion"]["visits"][action]
        assert len(end["opinion"]["tree"]) == 40 and any(row[0] >= 0 for row in end["opinion"]["tree"])
        async with search(client, "move", {**given, "moves": [0, 1, 0, 1, 0, 1, 0]}) as messages:
            assert await lines_of(messages) == [{"error": "the game is over"}]
        async with search(client, "search", {**given, "player": "alphabeta"}) as messages:
            assert (await messages.get())["status"] == 400

    run(script)


def test_other_players_take_the_budgets_that_their_names_have_and_no_others(place, no_preparing):
    async def script(client, interface):
        listed = (await client.get("/api/players?game=connect4")).json()["players"]
        takes = {one["name"]: one["takes"] for one in listed}
        assert takes["random"] is None and takes["alphabeta"] == {"plies": [1, 60], "seconds": [0.01, 60.0]}
        assert takes["rollout"] == {"sims": [1, 20_000], "seconds": [0.01, 60.0]}
        assert {one["name"]: one["usual"] for one in listed}["alphabeta"] == "4"
        given = {"game": "connect4", "moves": [3]}
        for player, budget, usual in (
            ("rollout", {"sims": 30}, "30"),
            ("rollout", {"seconds": 0.05}, "0.05s"),
            ("alphabeta", {"plies": 2, "sims": 1}, "2"),
            ("alphabeta", {"seconds": 0.05}, "0.05s"),
            ("random", {"sims": 1}, ""),
        ):
            assert interface.parts.work("move", {**given, "player": player, **budget})._level == usual
            async with search(client, "move", {**given, "player": player, **budget}) as messages:
                (move,) = await lines_of(messages)
            assert move["action"] in range(7) and not move["stopped"], (player, budget)
        for player, budget, words in (
            ("rollout", {"plies": 2}, "plies: expected sims or seconds for 'rollout', got 2"),
            ("random", {"seconds": 1}, "seconds: expected no budget for 'random', got 1"),
            ("alphabeta", {"plies": 61}, "plies: expected a whole number from 1 to 60, got 61"),
            ("rollout", {"sims": 20_001}, "sims: expected a whole number from 1 to 20000, got 20001"),
            ("rollout", {"seconds": 61}, "seconds: expected a number from 0.01 to 60, got 61"),
        ):
            refused = await client.post("/api/move", {**given, "player": player, **budget})
            assert refused.status == 400 and refused.error == words

    run(script)


# ---- events


def test_open_pages_are_told_of_runs_and_are_limited_and_forgotten_when_closed(trained_place, monkeypatch):
    monkeypatch.setattr(feeds, "EVERY", 0.02)
    monkeypatch.setattr(feeds, "MOST", 20)

    async def script(client, interface):
        path = "/api/events"
        async with client.stream(scope_of(path, query="name=tictactoe/run0001&lang=zh")) as messages:
            assert (await messages.get())["status"] == 200
            text = b""
            while b"event: runs" not in text:
                text += (await asyncio.wait_for(messages.get(), 60)).get("body", b"")
            runs = json.loads(text.decode().split("data: ")[1].split("\n")[0])["runs"]
            assert [one["name"] for one in runs] == ["tictactoe/run0001"] and "井字棋" in runs[0]["label"]
            more = [client.stream(scope_of(path)) for _ in range(19)]
            for each in more:
                assert (await (await each.__aenter__()).get())["status"] == 200
            assert (await client.get(path)).status == 429 and interface.parts.feeds.count == 20
            for each in more:
                await each.__aexit__(None, None, None)
            assert interface.parts.feeds.count == 1
        assert interface.parts.feeds.count == 0
        await asyncio.sleep(0.1)
        assert interface.parts.feeds._task.done(), "nobody listens, nothing is read"

    run(script)
