"""The board of a notebook: a click is a message, a move and its answer; in a real browser what is drawn and sent."""

import json
import shutil
import sys

import pytest

anywidget = pytest.importorskip("anywidget", reason="the board to click on needs anywidget")

import games  # noqa: E402
from agent import Agent  # noqa: E402
from game import Game  # noqa: E402
from interface.notebook.board import Board  # noqa: E402
from interface.notebook.views import clickable  # noqa: E402
from players.simple import RandomPlayer  # noqa: E402
from plugins.notebook.widget import BoardWidget  # noqa: E402
from support.browser import until  # noqa: E402
from support.corridor import Corridor  # noqa: E402
from support.search_cases import Projection  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
TRAITS = ("svg", "status", "words", "table", "look", "others", "ply")


def machine(name, sims=40):
    game = name if isinstance(name, Game) else games.make(name)
    return Agent("machine", game, Projection(game), mcts_sims=sims, leaves=1)


def shown(name, **options):
    return BoardWidget(Board(machine(name), **options))


def click(widget, action, **more):
    widget.receive({"deed": "play", "action": action, "ply": widget.ply, **more})


def test_a_click_plays_a_move_and_the_answer_follows():
    widget = shown("connect4")
    drawn = []
    widget.observe(lambda change: drawn.append((change.new.count("stone"), widget.status)), "svg")
    click(widget, 3)
    assert widget.board.moves[0] == 3 and len(widget.board.moves) == 2 == widget.ply
    assert [stones for stones, _ in drawn] == [1, 2], "one's own stone is seen before the answer"
    assert widget.status == "Your turn, you are X." and "machine plays" in widget.words
    other = Board(machine("connect4")).move(4)
    assert other.moves == widget.board.moves, "a click and a call are the same"


def test_a_click_meant_for_another_position_plays_nothing():
    widget = shown("connect4")
    click(widget, 3)
    before = list(widget.board.moves)
    click(widget, 3, ply=0)
    click(widget, 3, ply=None)
    assert widget.board.moves == before


def test_an_illegal_click_says_why_and_changes_nothing():
    widget = shown("tictactoe")
    click(widget, 4)
    before = list(widget.board.moves)
    click(widget, 4)
    assert widget.board.moves == before and "illegal move" in widget.words


@pytest.mark.parametrize(
    "message",
    [None, [], "play", {}, {"deed": "play"}, {"deed": "play", "action": "3"}, {"deed": "play", "action": 7},
     {"deed": "play", "action": -1}, {"deed": "show"}, {"deed": "look", "kind": "W"}, {"deed": "look", "kind": []}],
)  # fmt: skip
def test_what_is_no_message_of_the_board_is_dropped(message):
    widget = shown("connect4")
    widget.receive({**message, "ply": 0} if isinstance(message, dict) else message)
    assert widget.board.moves == [] and widget.look == "none"


def test_undo_new_and_swap_are_those_of_the_board():
    widget = shown("connect4")
    click(widget, 3)
    widget.receive({"deed": "undo", "ply": 2})
    assert widget.board.moves == []
    widget.receive({"deed": "undo", "ply": 0})
    assert "no move of yours" in widget.words
    widget.receive({"deed": "swap", "ply": 0})
    assert widget.ply == 1 and widget.board.state.playerTurn == -1, "now the machine begins"
    widget.receive({"deed": "new", "ply": 1})
    assert widget.ply == 1
    widget.receive({"deed": "swap", "ply": 1})
    assert widget.ply == 0 and "you are X" in widget.status


def test_calls_of_the_board_are_seen_in_every_widget_of_it():
    board = Board(machine("connect4"))
    first, second = BoardWidget(board), BoardWidget(board)
    board.move(4)
    assert first.ply == second.ply == 2 and first.svg == second.svg and first.svg.count("stone") == 2
    assert "illegal" in board.move(9).note or "expected" in board.note
    assert first.words == second.words and "expected a move such as" in first.words


def test_the_overlay_and_the_table_have_the_numbers_of_explain():
    widget = shown("connect4")
    assert widget.table == "" and "mark" not in widget.svg
    widget.receive({"deed": "look", "kind": "N", "ply": 0})
    hint = widget.board.hint()
    assert widget.table == hint.table and widget.table.count("data-hover") == 7
    shares = [f">{100 * m['share']:.0f}</text>" for m in hint.found["moves"] if round(100 * m["share"]) >= 1]
    assert all(share in widget.svg for share in shares) and widget.svg.count('class="mark"') == len(shares)
    widget.receive({"deed": "look", "kind": "none", "ply": 0})
    assert widget.table == "" and "mark" not in widget.svg


def test_a_player_that_has_no_opinion_says_so():
    widget = BoardWidget(Board(RandomPlayer(games.make("connect4"))))
    widget.receive({"deed": "look", "kind": "Q", "ply": 0})
    assert widget.look == "none" and "random gives no hints" in widget.words


def test_moves_that_are_no_point_of_the_board_are_buttons():
    game = games.make("go")
    assert shown("go").others == [[game.parse_move("pass"), "pass"]]
    assert shown("connect4").others == []
    widget, moves = shown(Corridor()), 0
    while not widget.board.state.isEndGame and moves < 100:
        click(widget, int(widget.board.state.allowedActions[0]))
        moves += 1
    assert widget.board.state.isEndGame and widget.others == []


def test_an_interrupted_answer_takes_the_move_back_and_says_so():
    class Busy(RandomPlayer):
        def act(self, state, tau):
            raise KeyboardInterrupt

    widget = BoardWidget(Board(Busy(games.make("connect4"))))
    click(widget, 3)
    assert widget.ply == 0 and "stone" not in widget.svg and "taken back" in widget.words


def test_without_anywidget_the_board_says_what_to_install(monkeypatch):
    board = Board(machine("connect4"))
    widget = clickable(board)
    assert isinstance(widget, BoardWidget) and clickable(board) is widget, "a cell is run again"
    widget.close()
    assert clickable(board) is not widget
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "plugins.notebook.widget")
    assert clickable(board) is board and "pip install anywidget" in board.note
    assert board.move(4).moves[0] == 3


def test_text_of_a_player_is_escaped():
    board = Board(machine("connect4"))
    board.agent.name = "<img src=x onerror=alert(1)>"
    widget = BoardWidget(board)
    widget.receive({"deed": "look", "kind": "N", "ply": 0})
    click(widget, 3)
    assert "&lt;img" in widget.words and "<img" not in widget.words + widget.table + widget.svg


# ---- in a browser

MODEL = """
  const values = VALUES, listeners = {};
  window.sent = [];
  const model = {
    get: (name) => values[name],
    on: (name, f) => (listeners[name] ??= []).push(f),
    off: (name, f) => (listeners[name] = listeners[name].filter((g) => g !== f)),
    send: (message) => window.sent.push(message),
  };
  window.take = (news) => {
    Object.assign(values, news);
    for (const name in news) (listeners[`change:${name}`] ?? []).forEach((f) => f());
  };
  window.leave = widget.render({ model, el: document.getElementById("here") });
  window.listening = () => Object.values(listeners).flat().length;
"""


class Tab:
    """A widget in a browser, with this test in place of Jupyter between the two."""

    def __init__(self, browser, widget, folder):
        self.browser, self.widget = browser, widget
        module = widget._esm.replace("export default {", "const widget = {")
        script = module + MODEL.replace("VALUES", json.dumps(self.values()).replace("<", "\\u003c"))
        (folder / "page.html").write_text(
            f"<!doctype html><meta charset=utf-8><style>{widget._css}</style>"
            f"<div id=here></div><script type=module>{script}</script>", encoding="utf-8"
        )  # fmt: skip
        browser.get((folder / "page.html").as_uri())
        until(lambda: browser.execute_script("return window.leave !== undefined"))

    def values(self):
        return {name: getattr(self.widget, name) for name in TRAITS}

    def pass_on(self):
        """Give Python what was sent, and the browser what became of it; return the messages."""
        sent = self.browser.execute_script("return window.sent.splice(0)")
        for message in sent:
            self.widget.receive(message)
        self.browser.execute_script("window.take(arguments[0])", self.values())
        return sent

    def all(self, css):
        return self.browser.find_elements("css selector", css)

    def button(self, text):
        return next(e for e in self.all("button") if e.text == text)


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("selenium.webdriver", reason="needs selenium to drive a browser")
    if not (CHROMIUM and DRIVER):
        pytest.skip("needs chromium and chromium-driver")
    from support.browser import chromium

    driver = chromium()
    try:
        yield driver
        severe = [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
        assert not severe
    finally:
        driver.quit()


@pytest.mark.timeout(300)
def test_a_game_is_played_by_mouse_and_keyboard_in_a_browser(browser, tmp_path):
    widget = shown("connect4")
    tab = Tab(browser, widget, tmp_path)
    tab.all('[data-point="38"]')[0].click()
    assert tab.pass_on() == [{"deed": "play", "action": 3, "ply": 0}]
    assert len(tab.all(".stone")) == 2 and tab.all("[role=status]")[0].text == widget.status
    browser.execute_script("document.querySelector('.stage').focus()")
    keys = tab.all(".stage")[0]
    free = "return [...document.querySelectorAll('.stage, button')].every(e => e.hasAttribute(arguments[0]))"
    assert browser.execute_script(free, "data-lm-suppress-shortcuts"), "Jupyter looks only at what has the focus"
    keys.send_keys("\ue014")  # right: the cursor appears in the middle
    keys.send_keys("\ue012")  # left
    assert len(tab.all(".point.cursor")) == 1
    column = int(tab.all(".point.cursor")[0].get_attribute("data-action"))
    keys.send_keys("\ue007")
    assert tab.pass_on() == [{"deed": "play", "action": column, "ply": 2}] and widget.ply == 4
    assert tab.all(".point.cursor"), "the cursor stays where it was"
    tab.button("Undo").click()
    tab.pass_on()
    assert len(tab.all(".stone")) == 2


@pytest.mark.timeout(300)
def test_the_overlay_the_table_and_the_lines_of_moves_in_a_browser(browser, tmp_path):
    from selenium.webdriver import ActionChains

    widget = shown("connect4")
    tab = Tab(browser, widget, tmp_path)
    tab.button("Q").click()
    assert tab.pass_on() == [{"deed": "look", "kind": "Q", "ply": 0}]
    assert len(tab.all("tr[data-hover]")) == 7 and tab.all(".mark")
    assert [b.text for b in tab.all("[aria-pressed=true]")] == ["Q"]
    row = tab.all("tr[data-hover]")[0]
    action = row.get_attribute("data-hover")
    ActionChains(browser).move_to_element(tab.button("Q")).move_to_element(row).perform()
    until(lambda: tab.all(f'.line[data-line="{action}"][visibility=visible]'))
    assert len(tab.all(".line[visibility=visible]")) == 1
    browser.execute_script("window.leave()")
    assert browser.execute_script("return window.listening()") == 0, "a widget that is taken away listens no more"


@pytest.mark.timeout(300)
def test_a_pass_is_a_button_and_illegal_clicks_say_why_in_a_browser(browser, tmp_path):
    tab = Tab(browser, shown("go"), tmp_path)
    tab.button("pass").click()
    assert tab.pass_on()[0]["deed"] == "play" and tab.widget.ply >= 1
    tab = Tab(browser, shown("tictactoe"), tmp_path)
    for _ in range(2):
        tab.all('[data-point="4"]')[0].click()
        tab.pass_on()
    assert tab.widget.ply == 2 and "illegal move" in tab.all(".right")[0].text
