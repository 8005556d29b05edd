"""The person's own games: kept in the browser, resumed, read with care; and the question before one is left."""

import json
import re
from types import SimpleNamespace

import pytest

import games
from games.line_of_moves import after_moves
from plugins.page.games_tab import games_html, listed
from plugins.page.own_games import LARGEST, MOST, Own, OwnGames, read_own
from plugins.page.tab_address import restore
from plugins.page.table import Table
from plugins.page.tests.browser_page import Page, needs_page
from storage.game_files import Record, to_bytes
from support.browser import until

FRIENDS = "&game=connect4&mode=play&first=you&second=you"


def entry(moves="4433", number="0a1b2c3d", spec="connect4", **values):
    game = games.make(spec)
    file = to_bytes(Record(game, game.parse_moves(moves), players=("you", "level:2")), ".json").decode()
    return {"number": number, "file": file, "seats": {"first": "you", "second": "level:2"}} | values


def test_what_a_browser_kept_is_read():
    first, second = read_own(json.dumps([entry(), entry("a1", "ffffffff", "tictactoe", seats={"first": "random"})]))
    assert (first.number, first.record.moves, first.record.result) == ("0a1b2c3d", [3, 3, 2, 2], None)
    assert first.seats == {"first": "you", "second": "level:2"} and first.record.players == ("you", "level:2")
    assert second.record.game.spec == "tictactoe" and second.seats == {"first": "random", "second": "you"}


def test_a_list_of_the_person_s_games_says_against_whom_and_who_won():
    def lines(moves, players, spec="tictactoe"):
        game = games.make(spec)
        moves = game.parse_moves(moves)
        result = after_moves(game, moves).value * (-1) ** len(moves) if moves[4:] else None
        kept = Own("0a1b2c3d", Record(game, moves, result, players), {})
        return re.findall("<span>(.*?)</span>", games_html(None, listed([kept])))

    assert lines("a1 b1 a2 b2 a3", ("you", "level:2")) == ["You win", "You - Master", "5 moves"]
    assert lines("a1 b1 a2 b2 a3", ("rollout:25", "you")) == ["You lose", "rollout:25 - You", "5 moves"]
    assert lines("a1 b1 a2 b2 a3", ("you", "you")) == ["X wins", "5 moves"]
    assert lines("a1", ("you", "<b>")) == ["not finished", "You - &lt;b&gt;", "1 move"]
    assert lines("4", ("you", "level:1"), "connect4")[1] == "You - Beginner"


FILE = entry()["file"]


@pytest.mark.parametrize(
    "text",
    [None, 7, "", "{", "null", '"mine"', "[[[[]]]]", "[" * 100_000, "[" * (LARGEST + 1), '{"number": 1}'],
)
def test_what_is_no_list_of_games_is_none(text):
    assert read_own(text) == []


@pytest.mark.parametrize(
    "bad",
    [None, 7, [], {}, entry(number=None), entry(number="0a1b2c3"), entry(number="0a1b2c3d\n"), entry(number="<b>12345"),
     entry(file=None), entry(file=""), entry(file="x" * 30_000), entry(file="\ud800"), entry(file="[" * 19_000),
     entry(file=FILE.replace("connect4", "evil.py:Game")), entry(file=FILE.replace('"4"', '"9"')),
     entry(file=FILE.replace("connect4", "go(size=99999)")), entry(file='{"game": "connect4", "moves": 7}')],
)  # fmt: skip
def test_an_entry_that_is_no_game_is_left_out(bad):
    assert [own.number for own in read_own(json.dumps([bad, entry()]))] == ["0a1b2c3d"]


def test_no_more_games_are_read_than_are_kept():
    assert len(read_own(json.dumps([entry()] * (MOST + 5)))) == MOST
    seats = {"first": 7, "second": ["x"] * 500, "third": "you"}
    assert set(map(len, read_own(json.dumps([entry(seats=seats)]))[0].seats.values())) == {1, 100}


@pytest.mark.parametrize("mode, own, waits", [("play", "0a1b2c3d", False), ("play", "", True),
                                              ("analyse", "0a1b2c3d", True)])  # fmt: skip
def test_the_machine_plays_on_after_a_reload_of_a_persons_own_game_only(mode, own, waits):
    roster, opponents = (SimpleNamespace(players=lambda _: ["you", "random"]),
                         SimpleNamespace(found_in=lambda _: None))  # fmt: skip
    play = SimpleNamespace(table=Table("connect4"), mode=mode, roster=roster, opponents=opponents,
                           refresh_players=lambda: None, do=lambda deed, *values: deed(*values) is None)  # fmt: skip
    play.own = OwnGames(play)
    restore(play, {"game": "connect4", "moves": "443", "first": "you", "second": "random", "own": own}, "connect4")
    assert play.table.machine_to_move is not waits and play.table.machine_waits is waits
    assert play.opponents.helped, "a reload does not make it a game without help"


# ---- in a browser


@pytest.fixture
def page(browser, address):
    page = Page(browser, address, FRIENDS)
    page.run("localStorage.removeItem('mine')")
    until(lambda: page.count(".tile") > 3)
    yield page
    page.run("localStorage.removeItem('mine')")


def kept(page):
    """Return (moves, result) of the games that the browser keeps."""
    files = [json.loads(one["file"]) for one in json.loads(page.run("return localStorage.getItem('mine')") or "[]")]
    return [("".join(file["moves"]), file["result"]) for file in files]


def play(page, *points):
    for point in points:
        before = page.moves
        page.click(point)
        until(lambda: page.moves == before + 1)  # noqa: B023


def open_mine(page, browser, address, count):
    """Open the tab with the games, and wait until `count` of them are shown."""
    browser.get(f"{address}&view=games&game=connect4")
    choose = "return [...document.querySelectorAll('button')].find(b => b.innerText.trim() === 'Mine')"
    until(lambda: page.run(choose)).click()
    until(lambda: page.count("[data-game]") == count)


@pytest.mark.usefixtures("browser")
class TestInABrowser:
    pytestmark = needs_page

    def test_a_game_is_kept_from_the_first_move_on_and_gone_on_with(self, page, browser, address):
        assert kept(page) == []
        play(page, 38, 38, 37)
        until(lambda: kept(page) == [("443", None)])
        page.press("undo")
        until(lambda: "Move 2 of 3" in page.status)
        page.click(36)
        until(lambda: kept(page) == [("442", None)])
        browser.refresh()
        until(lambda: page.all(".stage svg") and page.moves == 3)
        play(page, 35)
        until(lambda: kept(page) == [("4421", None)])  # the same game after a reload
        open_mine(page, browser, address, 1)
        assert page.text("[data-game] > span") == "not finished 4 moves"
        page.run("document.querySelector('[data-game]').click()")
        until(lambda: page.moves == 4 and page.status == "Red to move")
        play(page, 35)
        until(lambda: kept(page) == [("44211", None)])
        page.give_up()
        until(lambda: kept(page) == [("44211", 1)])

    def test_a_game_that_is_continued_in_two_tabs_is_kept_as_two(self, page, browser, address):
        play(page, 38, 37)
        until(lambda: kept(page) == [("43", None)])
        first, here = browser.current_window_handle, browser.current_url
        browser.switch_to.new_window("tab")
        try:
            browser.get(here)
            until(lambda: page.all(".stage svg") and page.moves == 2)
            play(page, 35, 36)
            until(lambda: kept(page) == [("4312", None)])
            browser.switch_to.window(first)
            play(page, 41)
            until(lambda: kept(page) == [("437", None), ("4312", None)])
            play(page, 40)
            until(lambda: kept(page) == [("4376", None), ("4312", None)])
            page.press("undo")
            until(lambda: sum(map(len, page.stones())) == 3)
            page.click(39)
            until(lambda: kept(page) == [("4375", None), ("4312", None)])
        finally:
            browser.switch_to.window(next(tab for tab in browser.window_handles if tab != first))
            browser.close()
            browser.switch_to.window(first)

    def test_a_finished_game_is_opened_in_analyse_and_its_tries_are_not_kept(self, page, browser, address):
        play(page, 38, 37, 38, 37, 38, 37, 38)
        until(lambda: kept(page) == [("4343434", 1)])
        open_mine(page, browser, address, 1)
        page.run("document.querySelector('[data-game]').click()")
        until(lambda: "Move 0 of 7" in page.status)
        page.click(0)
        until(lambda: page.moves == 1)
        assert kept(page) == [("4343434", 1)]
        open_mine(page, browser, address, 1)
        page.press("delete all these games")
        page.answer("Delete")
        until(lambda: page.count("[data-game]") == 0 and kept(page) == [])
        until(lambda: "Games that you play are kept here" in page.text(".sheet .soft"))

    def test_a_game_that_is_not_over_is_left_only_after_a_question(self, page, tmp_path):
        (tmp_path / "game.txt").write_text("1122")
        play(page, 38, 38)
        for label, answer in (("a new game", "Cancel"), ("give the game up", "Cancel")):
            page.press(label)
            page.answer(answer)
            assert page.moves == 2 and page.status == "Red to move"
        page.press("files and text")
        until(lambda: page.all("input[type=file]"))[0].send_keys(str(tmp_path / "game.txt"))
        page.answer("Cancel")
        assert page.moves == 2
        page.press("a new game")
        page.answer("New game")
        until(lambda: page.moves == 0)
        page.press("a new game")
        page.press("give the game up")
        until(lambda: page.count(".ended .result"))
        assert not page.count(".question"), "nothing was played that could be lost"

    def test_what_others_put_into_the_browser_harms_nothing(self, page, browser, address):
        script = json.dumps([{"file": "<img src=x onerror=alert(1)>", "number": "0a1b2c3d"}])
        for text in ("{", "[1, null, {}]", script):
            page.run("localStorage.setItem('mine', arguments[0])", text)
            open_mine(page, browser, address, 0)
            until(lambda: "Games that you play are kept here" in page.text(".sheet .soft"))
        full = [entry(number=f"{i:08x}") for i in range(2 * MOST)]
        page.run("localStorage.setItem('mine', arguments[0])", json.dumps([None, *full]))
        browser.get(address + FRIENDS)
        until(lambda: page.count(".tile") > 3)
        play(page, 38)
        until(lambda: kept(page)[0] == ("4", None))
        assert len(kept(page)) == MOST


def test_an_old_address_changes_nothing_that_is_kept_until_there_is_another_move():
    sent, game = [], games.make("tictactoe")
    table = SimpleNamespace(number="ffffffff", left=None, result=None, record=lambda: Record(game, moves), seats={})
    table.seats, table.levels, moves = {1: "you", -1: "random"}, {1: "400", -1: "400"}, game.parse_moves("b2 a1")
    own = OwnGames(SimpleNamespace(table=table, mode="play", client=SimpleNamespace(run_javascript=sent.append)))
    own.found_in({"own": "0a1b2c3d"})
    own.keep()
    assert own.in_address == "0a1b2c3d" and sent == []
    moves.append(game.parse_moves("a2")[0])
    own.keep()
    assert len(sent) == 1 and "0a1b2c3d" in sent[0]
