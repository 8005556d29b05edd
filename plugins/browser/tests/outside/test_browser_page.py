"""The page of one file in Chromium and in Firefox, from a disk, around a test double of the engine.

Each test is a journey of several deeds; one browser of each kind serves them all.

Axe is a program of its own (npm i axe-core): it is taken from AXE_JS or from node_modules of the checkout.
"""

import json
import os
import re
from pathlib import Path

import pytest

import games
from plugins.browser.tests.stub_page import stub_page
from storage import game_files
from support.browser import chromium, needs_browser, until
from support.firefox import Firefox, needs_firefox

pytestmark = needs_browser
HERE = Path(__file__).parents[4]
AXE = Path(os.environ.get("AXE_JS") or HERE / "node_modules" / "axe-core" / "axe.min.js")
RUN = """const done = arguments[0], grave = ["serious", "critical"];
axe.run(document, {resultTypes: ["violations"]}).then((found) => done(found.violations
    .filter((fault) => grave.includes(fault.impact))
    .flatMap((fault) => fault.nodes.map((node) => `${fault.id}: ${node.html.slice(0, 300)}`))))"""
SAVED = """const made = URL.createObjectURL;
URL.createObjectURL = (blob) => {
  blob.text().then((text) => { window.saved = text; });
  return made.call(URL, blob);
}"""
HOLD = """window.holds = arguments[0];
[window.held, window.sent, window.answered] = [[], [], 0];
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (data, ...more) {
  if (data.call !== window.holds) {
    window.sent.push(data);
    return post.call(this, data, ...more);
  }
  this.addEventListener("message", ({ data: { id, progress } }) => { window.answered += id === data.id && !progress; });
  window.held.push(() => post.call(this, data, ...more));
}"""
"""Keeps calls of a name from the engine until they are released, and lists the others."""
GAMES = {"connect4": "connect4", "gomoku": "gomoku(size=15)", "go": "go(size=9,komi=7.5)", "hex": "hex(swap=yes)"}

FAULTS = {
    "broken": {"opinion() {": 'opinion() {\n      throw new Error("out of order");'},
    "endless": {"tree.sims = sims;": "tree.sims = Infinity;", "performance.now() + 1000 * seconds;": "Infinity;"},
}
"""Pages of Connect 4 around an engine that fails, or whose search ends only when it is stopped."""


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Return a folder with the pages of some games."""
    found = tmp_path_factory.mktemp("pages")
    for name, spec in GAMES.items():
        (found / f"{name}.html").write_text(stub_page(spec), encoding="utf-8")
    (found / "territory.html").write_text(stub_page(GAMES["go"], ownership=True), encoding="utf-8")
    bare = re.sub(r'"puzzles":.*?,"accuracy"', '"puzzles":[],"accuracy"', stub_page("connect4"))
    (found / "bare.html").write_text(bare, encoding="utf-8")
    for name, changes in FAULTS.items():
        (found / f"{name}.html").write_text(stub_page("connect4", changes=changes), encoding="utf-8")
    return found


@pytest.fixture(scope="session", params=["chromium", pytest.param("firefox", marks=needs_firefox)])
def browser(request, folder):
    driver = chromium() if request.param == "chromium" else Firefox()
    try:
        yield driver
        if request.param == "chromium":
            asked = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
            urls = [m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"]
            errors = [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
        else:
            urls, errors = driver.asked, driver.errors
        outside = [u for u in urls if not re.match(r"data:|blob:|about:", u) and not u.startswith(folder.as_uri())]
        assert not outside, "the page requests nothing from elsewhere"
        assert not [one for one in errors if "out of order" not in one], "but those of the page that is to fail"
    finally:
        driver.quit()


only_chromium = pytest.mark.parametrize("browser", ["chromium"], indirect=True)
"""For what asks Chromium's tools for developers."""


class Page:
    """A page, by what people see in it."""

    def __init__(self, browser, folder, name="connect4", link="", *, keep=False):
        self.browser = browser
        if not keep:  # what the page before has kept is lost, and it keeps nothing more until it is left
            leave = "localStorage.clear(); Storage.prototype.setItem = () => {}"
            self.run(f"if (location.protocol === 'file:') {{ {leave} }}")
        browser.get("about:blank")  # else another fragment is no other page
        browser.get((folder / f"{name}.html").as_uri() + link)
        until(lambda: self.run("return document.documentElement?.dataset.ready !== undefined"))

    def run(self, script, *values):
        return self.browser.execute_script(script, *values)

    def text(self, css):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText).join(' ')", css)

    def count(self, css):
        return self.run("return document.querySelectorAll(arguments[0]).length", css)

    def press(self, text):
        """Press the button that is seen and has a name that begins so."""
        find = """const place = document.querySelector("dialog[open]") ?? document, text = arguments[0];
            const named = (b) => b && (b.innerText.trim().startsWith(text) || b.ariaLabel === text);
            document.removeEventListener("click", window.hears, true);
            window.hears = (event) => { window.pressed ||= !!named(event.target.closest?.("button")); };
            document.addEventListener("click", window.hears, true);
            window.pressed = false;
            return [...place.querySelectorAll("button")].find((b) => b.offsetParent && !b.disabled && named(b))"""
        until(lambda: self._clicked(find, text))

    def _clicked(self, find, text):
        """Click what is found; return whether that was clicked: a search that draws its card again may move it away."""
        found = self.run(find, text)
        try:
            if found:
                found.click()
        except Exception as error:
            if not re.search("stale|no such|not displayed|intercepted", str(error).lower()):
                raise
            return False
        return found and self.run("return window.pressed !== false")  # undefined on another page

    def set(self, css, value):
        """Write into a field and leave it."""
        self.run(
            """const e = document.querySelector(arguments[0]);
            e.value = arguments[1];
            e.dispatchEvent(new Event('input'));
            e.dispatchEvent(new Event('change'))""",
            css,
            value,
        )

    def click(self, point):
        send = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        self.run(f'document.querySelector(`.stage [data-point="${{arguments[0]}}"]`).{send}', point)

    def hold(self, call):
        self.run(HOLD, call)

    def release(self):
        """Let the engine have what was held from it, and wait until the page has its answers."""
        self.run("window.holds = null; window.held.forEach((send) => send())")
        until(lambda: self.run("return window.answered === window.held.length"))

    def lose(self):
        """Give up the game."""
        self.press("Resign")
        self.press("Give up")
        self.wait_for("You lose.")

    def wait_for(self, text, css=".status"):
        until(lambda: text in self.text(css))

    @property
    def stones(self):
        return self.count(".stage .side > .stone")

    @property
    def moves(self):
        return [
            re.sub(r"^\d+\.", "", move).strip()
            for move in self.run("return [...document.querySelectorAll('.moves button')].map((b) => b.textContent)")
        ]


@pytest.fixture
def page(browser, folder):
    return lambda *args, **more: Page(browser, folder, *args, **more)


# ---- journeys


def test_a_game_is_played_taken_back_resigned_won_and_continued(page):
    seen = page()
    seen.wait_for("Your move")
    seen.click(38)
    until(lambda: seen.stones == 2)
    before = seen.moves
    seen = page(keep=True)  # a page that is loaded again continues the game
    until(lambda: seen.moves == before)
    seen.press("Undo")
    until(lambda: seen.stones == 0)
    seen.press("Fits me")
    seen.click(35)
    until(lambda: seen.stones == 2)
    assert not seen.count(".opponents") and "Change the opponent" in seen.text(".panel"), "the panel is small"
    seen.lose()
    assert "Red resigned." in seen.text(".result") and "You lose." in seen.text(".ended")
    assert seen.run("return localStorage.getItem('fits:connect4')") == "0", "one step down after a loss"
    seen.press("Rematch")
    until(lambda: seen.stones == 1)  # the other side begins now
    seen = page(link="#moves=4.1.4.2.4.3&view=play")
    seen.click(17)
    seen.wait_for("You win.")
    assert seen.count(".won-line") and seen.count(".stone.won") == 4
    assert "You win." in seen.text(".ended") and "4 in a row" in seen.text(".ended")
    seen.press("New game")
    until(lambda: seen.stones == 0 and not seen.text(".ended"))
    seen.press("Second")
    until(lambda: seen.stones == 1)  # who sits second waits for the machine
    seen.press("Watch")
    until(lambda: seen.stones > 2)  # and two machines need nobody
    seen.press("A friend")
    for point in (38, 31, 24):
        seen.click(point)  # at once: no click is lost
    until(lambda: seen.stones == 3)


def test_the_network_plays_with_any_budget_and_a_wrong_one_gets_a_line(page):
    seen = page()
    other = ".opponents [data-key=Other]"
    seen.set(other, seen.run("return document.querySelector(arguments[0]).options[1].value", other))
    seen.press("First")
    assert "1 to 20,000 simulations, or 0.01 to 60 seconds" in seen.text(".budget-said")
    for wrong in ("", "0", "-3", "1.5", "20001", "61s", "0s", "5x", "1e3"):
        seen.set(".budget", wrong)
        assert seen.text(".budget-said").startswith("Expected 1 to 20,000 simulations"), wrong
        assert seen.run("return document.querySelector('.budget').value") == wrong, "it can be corrected"
        assert "400 simulations" in seen.text(".strip"), "the budget before stays"
    for right, said in ((" 300 ", "300 simulations"), ("0.05s", "0.05 s a move")):
        seen.set(".budget", right)
        assert said in seen.text(".strip") and not seen.count(".budget-said.wrong")
    seen.click(38)
    until(lambda: seen.stones == 2)
    assert seen.run("return localStorage.getItem('budget:connect4:The network of this page')") == "0.05s"


def test_a_clock_runs_out_for_who_does_not_move(page):
    seen = page()
    seen.run("const now = performance.now.bind(performance); performance.now = () => now() * (window.fast ?? 0)")
    seen.run("""const box = document.querySelector('.opponents [data-key=Clock]');
        box.value = '1+0';
        box.dispatchEvent(new Event('change'))""")
    seen.click(38)
    until(lambda: seen.stones == 2)
    assert "1:00" in seen.text(".clock")
    seen.run("window.fast = 1000")
    seen.wait_for("You lose.")
    assert "Red has no time left." in seen.text(".result")


def test_hints_say_why_and_the_teacher_holds_a_move(page):
    seen = page(link="#moves=1.4.1.4.2.4&view=play")  # three of the machine's in the fourth column
    seen.press("Hint")
    seen.wait_for("Try column 4: it blocks the three.")
    assert seen.count(".hint") == 1
    seen.press("Menu")
    seen.press("Teacher")
    seen.press("Value of your last move")
    seen.press("Close")
    seen.click(41)  # in another column: it does not block
    seen.wait_for("olumn 7 loses")
    assert seen.stones == 6 and not seen.count(".lost-share"), "what a move loses stands there once it is played"
    seen.press("Play it anyway")
    until(lambda: seen.stones >= 7 and seen.count(".lost-share") == 1)
    seen.press("Undo")
    until(lambda: seen.stones == 6 and not seen.count(".lost-share"))


def test_the_other_lines_are_kept_as_a_tree(page):
    seen = page(link="#moves=4.4&view=analyse")
    until(lambda: seen.count(".found tbody tr") and "400 simulations" in seen.text(".analysis p"))
    assert seen.count(".stage .mark") and seen.run("return document.querySelector('.eval').ariaLabel")
    move = seen.text(".found tbody tr:first-child td:first-child")
    seen.run("document.querySelector('.found tbody tr').click()")
    until(lambda: seen.moves == ["4", "4", move])
    seen.press("one move back")
    other = next(c for c in (1, 7) if str(c) != move)
    seen.click(34 + other)
    until(lambda: seen.count(".try") == 2)
    seen.press("Back to the game")
    until(lambda: seen.moves == ["4", "4"])
    seen.run("document.querySelectorAll('.try button:not(.button)')[0].click()")
    until(lambda: len(seen.moves) == 3)
    seen.press("Forget this line")
    until(lambda: seen.count(".try") == 1 and seen.moves == ["4", "4"])
    seen.press("Deepen")
    until(lambda: "1,600 simulations" in seen.text(".analysis p"))
    seen = page(link="#moves=1.7.2.7.3.6&view=analyse")
    seen.press("To the end")
    marks = "return [...document.querySelectorAll('.stage .mark text')].map((e) => e.textContent)"
    until(lambda: "+1" in seen.run(marks) and "won in 1" in seen.text(".found"))


def test_the_tree_is_drawn_its_lines_are_shown_and_tried_and_it_grows_again(page):
    seen = page(link="#moves=4.4&view=analyse")
    until(lambda: seen.count(".found tbody tr") and "400 simulations" in seen.text(".analysis p"))
    assert not seen.count(".tree"), "it is folded"
    seen.press("Show the tree")
    until(lambda: seen.count(".tree .node") > 8)
    said = "return document.querySelector('.node[data-node=\"\"]').getAttribute('aria-label')"
    assert "this position: 400 visits" in seen.run(said)
    deep = seen.run("return [...document.querySelectorAll('.node[aria-level=\"3\"]')].map((e) => e.dataset.node)[0]")
    node = f".node[data-node='{deep}']"

    def touch(css, kind, pointer):
        """Return the numbers of the line that the board shows after a pointer's event."""
        return seen.run(
            """const [css, kind, pointerType] = arguments;
            const event = new PointerEvent(kind, {bubbles: true, pointerType, movementX: 1});
            document.querySelector(css).dispatchEvent(event);
            return [...document.querySelectorAll(".stage .line.shown text")].map((one) => one.textContent)""",
            css,
            kind,
            pointer,
        )

    assert touch(node, "pointermove", "mouse") == ["1", "2"]
    names = " ".join(str(int(action) + 1) for action in deep.split())
    assert seen.text(".tree-words b") == names and "prior" in seen.text(".tree-words")
    touch(node, "pointermove", "mouse")
    assert touch(".tree h2", "pointermove", "mouse") == []
    assert touch(node, "click", "touch") == ["1", "2"] and seen.moves == ["4", "4"], "a tap shows the line"
    touch(node, "click", "touch")
    until(lambda: seen.moves == ["4", "4", *names.split()])  # and a second one tries it
    seen.press("Back to the game")
    until(lambda: "this position: 400 visits" in (seen.run(said) or ""))
    seen.run("const later = setTimeout; window.setTimeout = (deed, wait) => later(deed, wait / 20)")
    seen.press("Grow it again")
    until(lambda: ": 400 visits" not in seen.run(said))
    until(lambda: seen.run(said).startswith("this position: 400 visits"))
    seen.press("Hide the tree")
    assert not seen.count(".tree")


def test_mistakes_are_learned_from_and_kept_as_puzzles(page):
    seen = page(link="#moves=4.1.4.1.4.2.5.4&view=play")  # the seventh does not win, the eighth blocks
    seen.lose()
    seen.press("Mistakes")
    seen.wait_for("Mistake 1 of", ".learn")
    assert "7. Red played column 5" in seen.text(".learn") and seen.count(".stage .mark") == 1
    seen.click(39)  # the move that was played
    seen.wait_for("That is the move that was played.", ".verdict")
    seen.click(17)
    until(lambda: "4 is" in seen.text(".verdict.good"))  # the better move, or as good as what a short search found
    assert seen.run("return document.querySelectorAll('.stage .side > .stone').length") >= 6
    seen.press("Puzzles")
    seen.press("from your games")
    seen.wait_for("Mistake ", ".learn")
    assert seen.count(".own-puzzles .clean") == 1
    seen = page(link="#moves=4.1.4.1.4.2.5.4&view=analyse")
    until(lambda: seen.count(".found tbody tr"))  # what comes above the button moves it
    seen.press("Review the game")
    until(lambda: seen.count(".accuracy") == 2)
    assert "7. 5 " in seen.text(".chips") and "Better: 4" in seen.text(".lesson")
    assert seen.count(".line.shown") == 1 and seen.count(".graph .curve") == 1 and seen.count(".graph .dot")
    seen.press("to the start")
    seen.click(36)
    until(lambda: len(seen.moves) == 1 and seen.count(".graph .curve"))
    assert not seen.count(".graph .dot"), "another line has none of the game's marks"
    seen.press("Back to the game")
    seen.press("7. 5")
    seen.press("Try again from here")
    seen.wait_for("Your move.")
    assert len(seen.moves) == 6


def test_what_is_left_ends_and_what_fails_is_said(page):
    seen = page("endless", link="#moves=4.1.4.1.4.2.5.4&view=analyse")
    until(lambda: seen.count(".found tbody tr"))  # what comes above the button moves it
    seen.press("Review the game")
    seen.wait_for("move 0 of 8", ".review")
    seen.press("Show the tree")
    seen.hold(None)
    seen.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'd', bubbles: true}))")
    off = "return ['deepen', 'tree-grow'].map((key) => document.querySelector(`[data-key=${key}]`).disabled)"
    assert seen.run("return window.sent") == [] and seen.run(off) == [True, True], "a review is not ended by a search"
    seen.press("Puzzles")
    seen.press("Analyse")
    assert not seen.count(".review progress")
    seen = page("broken")
    seen.press("A friend")
    seen.press("Hint")
    seen.wait_for("The engine failed: out of order")
    seen = page("broken", link="#moves=4.1.4.1&view=analyse")
    seen.press("Review the game")
    seen.wait_for("The engine failed: out of order")
    until(lambda: "Review the game" in seen.text(".review"))


def test_a_puzzle_refutes_a_wrong_move_hints_and_is_solved(page):
    seen = page()
    seen.press("Puzzles")
    seen.wait_for("Which?")
    shown = seen.run("return JSON.parse(document.getElementById('facts').textContent).puzzles[0]")
    right = int(shown["line"].split()[0]) - 1
    free = seen.run("return [...document.querySelectorAll('.point.free')].map((p) => Number(p.dataset.action))")
    wrong = next(action for action in free if action != right)
    click = """document.querySelector(`.point.free[data-action="${arguments[0]}"]`)
        .dispatchEvent(new MouseEvent('click', {bubbles: true}))"""
    seen.run(click, wrong)
    until(lambda: seen.count(".verdict.bad"))
    for _ in range(3):
        seen.press("Hint")
    assert seen.count(".hint") == 1
    seen.run(click, right)
    assert shown["asked"] == 1, "this puzzle is solved by one move"
    until(lambda: seen.count(".numbers .helped") == 1)
    solver = "return JSON.parse(localStorage.getItem('solver')).connect4"
    assert seen.run(solver) == {"rating": rating_after(1200, shown, 0, won=False), "tried": [1]}
    seen.run("localStorage.setItem('solver', JSON.stringify({connect4: {rating: 1300, tried: [11, 12, 13, 14]}}))")
    seen.press("Next")
    until(lambda: seen.text(".numbers [aria-current=true]") == "2")
    second = seen.run("return JSON.parse(document.getElementById('facts').textContent).puzzles[1]")
    for name in second["line"].split()[: second["asked"] : 2]:
        said = seen.text(".verdict")
        seen.run(click, int(name) - 1)
        until(lambda said=said: seen.text(".verdict") != said)
    rating = rating_after(1300, second, 4, won=True)
    assert seen.run(solver) == {"rating": rating, "tried": [11, 12, 13, 14, 2]}
    assert seen.text(".rating") == f"Your rating: {rating.expected:.0f}"


def rating_after(rating, puzzle, count, won):
    """Return a solver's Elo after a puzzle, whose own is that of those that missed it (docs/browser.md)."""
    share = min(max(puzzle["missed"], 0.05), 0.95)
    expected = 1 / (1 + share / (1 - share) * 10 ** ((1200 - rating) / 400))
    return pytest.approx(rating + max(64 / (1 + count / 8), 16) * (won - expected))


def test_a_position_is_set_up_and_both_sides_see_what_counts_at_the_end(page):
    seen = page("go")
    seen.press("Menu")
    seen.press("Set up a position")
    seen.click(40)
    seen.press("White")
    seen.click(41)
    seen.press("White to move")
    seen.press("Play from here")
    until(lambda: seen.stones == 3)  # the machine, which has White, moves
    seen.wait_for("Your move.")
    data = saved(seen, "json")
    record = game_files.from_bytes(data, ".json", games.make(GAMES["go"]))
    assert record.game.start().playerTurn == -1 and len(record.moves) == 1
    seen = page("go", link="#moves=e5.c3.pass&view=play")
    seen.press("Undo")
    until(lambda: len(seen.moves) <= 2)
    seen = page("go")
    seen.press("A friend")
    seen.press("Pass")
    until(lambda: len(seen.moves) == 1)
    seen.press("Pass")
    seen.wait_for("points", "dialog")
    seen.press("Cancel")
    seen.press("Pass")
    seen.wait_for("points", "dialog")
    seen.run("document.querySelector('dialog .main').click()")
    until(lambda: seen.count("p.result"))
    assert seen.moves == ["Pass", "Pass"]


def test_dead_stones_are_confirmed_by_all_who_play_or_they_play_on(page):
    """Around an engine for which each side will own half of the board, so that what stands in the other's is dead."""
    rows = "return [...document.querySelectorAll('.count tbody tr')].map((row) => row.innerText.split('\\t'))"
    standing, without = ["as it stands", "2", "1", "Black +1"], ["without dead stones", "1", "1", "drawn"]
    seen = page("territory", link="#moves=b5.h5.h6.pass&view=play")
    seen.press("Pass")
    seen.wait_for("1 dead stone.")
    assert seen.count(".stage .dead") == 1 and seen.run(rows) == [standing, without]
    seen.press("Play on")  # the machine had passed before
    until(lambda: seen.moves == ["B5", "H5", "H6", "Pass"] and not seen.count(".stage .dead"))
    seen.press("Pass")
    seen.wait_for("1 dead stone.")
    seen.click(34)  # their own stone would live
    seen.wait_for("0 dead stones. Casual does not agree")
    assert seen.run("return document.querySelector('.others .main').disabled")
    seen.click(34)
    seen.wait_for("1 dead stone.")
    seen.press("Count")
    seen.wait_for("You win.", ".ended")
    assert seen.run(rows) == [standing, without] and seen.count(".stage .dead") == 1
    seen = page("territory")
    seen.press("A friend")
    for point in (37, 43, 34):
        seen.click(point)
    until(lambda: seen.stones == 3)
    seen.press("Pass")
    until(lambda: len(seen.moves) == 4)
    seen.press("Pass")
    seen.wait_for("1 dead stone.")
    seen.press("Black agrees")
    seen.click(43)
    seen.wait_for("2 dead stones.")
    seen.click(43)
    seen.wait_for("1 dead stone.")
    seen.press("Black agrees")  # once more, as the marks were others
    assert not seen.count("p.result")
    seen.press("White agrees")
    seen.wait_for("Black wins.", ".ended")


@only_chromium
def test_what_is_set_up_stays_apart_from_puzzles_and_from_the_opponent(page):
    seen = page("gomoku")
    seen.press("Menu")
    seen.press("Set up a position")
    for point in (0, 8, 16):
        seen.click(point)
    seen.press("Play from here")
    until(lambda: seen.stones == 3)
    seen.press("Puzzles")
    shown = seen.run("return JSON.parse(document.getElementById('facts').textContent).puzzles[0]")
    count = len(shown["moves"].split())
    until(lambda: seen.stones == count)  # and not three more
    seen.run("location.hash = '#moves=h8.h8'")
    seen.wait_for("This link cannot be opened.")
    point = """const { actionNames } = JSON.parse(document.getElementById("facts").textContent);
        return actionNames.indexOf(arguments[0])"""
    seen.click(seen.run(point, shown["line"].split()[0]))
    until(lambda: seen.text(".verdict"))
    assert seen.stones == count + min(2, shown["asked"]), "nor after a link that was refused"
    seen.press("Play")
    until(lambda: seen.stones == 3)
    seen.press("A friend")  # who sits there does not change what stands there
    seen.click(100)
    until(lambda: seen.stones == 4)
    before = seen.moves
    seen = page("gomoku", keep=True)  # a page that is loaded again continues this game, too
    until(lambda: seen.stones == 4 and seen.moves == before)
    seen.press("Menu")
    seen.press("Type or paste moves")
    for _ in range(2):
        seen.press("Open")  # these moves, although the game is not over
    until(lambda: seen.run("return document.body.dataset.view") == "analyse")
    assert seen.stones == 4
    seen.press("Play")
    seen.click(102)
    until(lambda: seen.stones == 5)
    seen.press("New game")
    seen.wait_for("Your game is not over.", "dialog")  # also that of two people
    seen.run("document.querySelector('dialog .main').click()")
    until(lambda: seen.stones == 0)


@only_chromium
def test_a_refused_link_leaves_the_machine_thinking_and_a_kept_game_kept(page):
    seen = page()
    seen.press("Second")
    seen.run("location.hash = '#moves=4.9'")  # while the machine thinks
    until(lambda: seen.stones == 1)
    seen.click(35)
    until(lambda: seen.stones == 3)
    before = seen.moves
    seen = page(link="#moves=9", keep=True)
    seen.wait_for("This link cannot be opened.")
    assert seen.moves == before
    assert page(keep=True).moves == before


@only_chromium
def test_a_page_that_a_link_opens_asks_before_a_kept_game_is_given_up(page):
    seen = page()
    seen.click(35)
    until(lambda: seen.stones == 2)
    before = seen.moves
    seen = page(link="#moves=1.2.1", keep=True)
    seen.wait_for("Your game is not over.", "dialog")
    seen.press("Cancel")
    until(lambda: not seen.count("dialog"))
    assert seen.moves == before
    seen = page(link="#moves=1.2.1", keep=True)
    seen.wait_for("Your game is not over.", "dialog")
    seen.press("Open")
    until(lambda: seen.moves == ["1", "2", "1"])


@only_chromium
def test_the_level_that_fits_is_that_of_one_game(page):
    seen = page()
    seen.press("Fits me")
    seen = page("hex", keep=True)
    seen.press("A friend")
    seen = page(keep=True)
    assert seen.run("return document.querySelector('[data-key=tilefits]').ariaPressed") == "true"


@only_chromium
def test_the_clock_of_a_machine_that_was_stopped_waits_and_a_loss_on_time_stays(page):
    seen = page()
    seen.run("const now = performance.now.bind(performance); performance.now = () => now() * (window.fast ?? 0)")
    seen.set(".opponents [data-key=Clock]", "1+0")
    seen.click(38)
    seen.press("Puzzles")  # while the machine thinks, or after its move
    seen.run("window.fast = 1000")
    seen.press("Play")
    until(lambda: seen.stones == 2)
    seen.wait_for("You lose.")
    assert seen.run("return document.querySelector('[data-key=undo]').disabled")


# ---- what waits for the engine, and what waits for the person


@only_chromium
def test_a_click_in_analyse_ends_the_search_and_is_dropped_once_something_else_is_shown(page):
    seen = page("endless", link="#moves=4.4&view=analyse")
    until(lambda: seen.count(".found tbody tr"))
    seen.click(35)
    until(lambda: seen.moves == ["4", "4", "1"])
    seen.press("Back to the game")
    seen.hold("follow")
    seen.click(36)
    until(lambda: seen.run("return window.held.length"))
    seen.press("Play")
    seen.release()
    assert seen.moves == ["4", "4"] and seen.run("return document.body.dataset.view") == "play"


@only_chromium
def test_learn_waits_for_no_search_and_pulls_nobody_back_and_the_first_mistakes_are_puzzles(page):
    seen = page("bare", link="#moves=4.1.4.1.4.2.5.4&view=play")
    seen.run("localStorage.sims = 6400")
    seen = page("bare", link="#moves=4.1.4.1.4.2.5.4&view=play", keep=True)
    assert "Puzzles" not in seen.text("nav")
    seen.lose()
    seen.hold("follow")
    seen.press("Mistakes")
    until(lambda: seen.run("return window.held.length"))
    stopped = """const long = window.sent.filter((one) => one.args?.sims === 6400);
        return long.every(({id}) => window.sent.some(({stop}) => stop >= id))"""
    assert seen.run(stopped), "what Learn needs of the engine comes before the search of what is shown"
    assert "Puzzles" in seen.text("nav"), "where these are the first, too"
    seen.press("Play")
    seen.release()
    assert seen.run("return document.body.dataset.view") == "play"


@only_chromium
def test_a_list_in_analyse_stays_open_while_a_search_draws_the_rest(page):
    seen = page(link="#moves=4.4&view=analyse")
    until(lambda: "400 simulations" in seen.text(".analysis p"))
    seen.hold("search")
    seen.press("Deepen")
    until(lambda: seen.run("return window.held.length"))
    seen.browser.find_element("css selector", ".analysis select").click()
    seen.run("""Object.assign(window, {list: document.querySelector(".analysis select"), drawn: 0});
        new MutationObserver(() => window.drawn++).observe(document.querySelector(".eval"), {attributes: true})""")
    seen.release()
    until(lambda: seen.run("return window.drawn"))
    assert seen.run("return window.list.matches(':open')")
    seen.run("window.list.blur()")
    until(lambda: "1,600 simulations" in seen.text(".analysis p") and seen.count("[data-key=deepen]"))


@only_chromium
def test_the_list_of_moves_follows_and_stays_where_it_was_scrolled_to(page):
    line = ".".join(f"{column}{row}" for row in range(1, 10) for column in "abcdefghij")
    seen = page("hex", link=f"#moves={line}&view=analyse")
    until(lambda: len(seen.moves) == 90 and seen.count(".found tbody tr"))
    at = "return Math.round(document.querySelector('.moves').scrollTop)"
    assert seen.run(at) > 100, "the last move is in sight"
    seen.run("document.querySelector('.moves').scrollTop = 60")
    seen.press("Show the tree")
    seen.press("Hide the tree")
    assert seen.run(at) == 60
    seen.press("one move back")
    assert seen.run(at) > 100
    seen.press("to the start")
    assert seen.run(at) == 0


@only_chromium
def test_what_the_page_of_another_game_shows_is_not_waited_for(page):
    seen = page()
    seen.run("localStorage.overlay = 'O'")  # the territory, in Go
    seen = page(link="#moves=4.4&view=analyse", keep=True)
    until(lambda: seen.count(".stage .mark"))
    assert seen.text(".analysis .choice [aria-pressed=true]") == "Visits"


@only_chromium
def test_who_plays_a_random_side_does_so_from_the_first_game_on(page, browser):
    seen = page()
    seen.run("localStorage.order = 'lot'")
    lot = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": "Math.random = () => 0.9"})
    try:
        seen = page(keep=True)
        until(lambda: seen.stones == 1)
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", lot)


@only_chromium
def test_a_game_that_is_not_over_is_given_up_only_by_who_agrees(page, tmp_path):
    path = tmp_path / "other.txt"
    path.write_text("1 2 1")
    seen = page()
    seen.click(38)
    until(lambda: seen.stones == 2)
    seen.press("Change the opponent")
    before = seen.moves

    def typed():
        seen.press("Menu")
        seen.press("Type or paste moves")
        seen.run("document.querySelector('dialog textarea').value = '1 2 1'")
        seen.press("Open")

    def dropped():
        seen.run("""const given = new DataTransfer();
            given.items.add(new File(["1 2 1"], "other.txt"));
            document.dispatchEvent(new DragEvent("drop", {dataTransfer: given}))""")

    deeds = {
        "side": lambda: seen.press("Second"),
        "clock": lambda: seen.set(".opponents [data-key=Clock]", "3+2"),
        "link": lambda: seen.run("location.hash = '#moves=1.2.1'"),
        "text": typed,
        "file": lambda: load(seen, path),
        "drop": dropped,
    }
    for name, deed in deeds.items():
        deed()
        seen.wait_for("Your game is not over.", "dialog")
        seen.press("Cancel")
        until(lambda: not seen.count("dialog"))
        assert seen.moves == before, name
        assert seen.run("return document.querySelector('.opponents [data-key=Clock]').value") == ""
        assert seen.text(".opponents .choice [aria-pressed=true]") == "First"
    dropped()
    seen.press("Open")
    until(lambda: seen.moves == ["1", "2", "1"])
    seen.run("location.hash = '#moves=1.2'")  # nobody has played on in a game from elsewhere
    until(lambda: seen.moves == ["1", "2"])


@only_chromium
def test_a_position_and_a_try_after_a_review_ask_before_a_game_that_is_not_over_is_given_up(page):
    seen = page("gomoku")
    seen.click(100)
    until(lambda: seen.stones == 2)
    seen.press("Menu")
    seen.press("Set up a position")
    seen.press("Play from here")
    seen.wait_for("Your game is not over.", "dialog")
    seen = page(link="#moves=4.1.4.1.4.2&view=play")
    seen.click(39)  # the fourth column wins
    until(lambda: seen.stones == 8)
    seen.press("Analyse")
    until(lambda: seen.count(".found tbody tr"))  # what comes above the button moves it
    seen.press("Review the game")
    seen.press("Try again from here")
    seen.wait_for("Your game is not over.", "dialog")
    seen.press("Cancel")
    seen.press("Play")
    assert len(seen.moves) == 8


# ---- links and files


def test_links_and_files_that_hold_no_game_are_refused_with_a_line(page, tmp_path):
    for link, said in (
        ("#moves=4.9", "is no move of this game"),
        ("#moves=4.4.4.4.4.4.4", "Move 7: 4 is not legal there."),
        ("#moves=1.2.1.2.1.2.1.3", "The game is over after move 7."),
        ("#moves=" + "4." * 40_000, "too long"),
        ("#moves=%3Cimg%20src=x%3E", "is no move of this game"),
        ("#own=nothing", "no longer kept"),
    ):
        seen = page(link=link)
        seen.wait_for(said)
        assert seen.stones == 0 and not seen.count(".status img")
    seen.click(38)
    until(lambda: seen.stones == 2)
    seen = page(link="#moves=4.4.3&ply=2&view=analyse")
    until(lambda: seen.moves == ["4", "4", "3"])
    assert seen.stones == 2
    seen.press("Menu")
    seen.press("Type or paste moves")
    seen.run("document.querySelector('dialog textarea').value = '1. 4 2. 5 44'")
    seen.press("Open")
    seen.wait_for("is no move", "dialog")
    seen.run("document.querySelector('dialog textarea').value = '1. 4 2. 5'")
    seen.press("Open")
    until(lambda: seen.moves == ["4", "5"])
    seen = page("hex")
    seen.press("Menu")
    seen.press("Type or paste moves")
    seen.run("document.querySelector('dialog textarea').value = '1. f6 2. swap-pieces 3. a1'")
    seen.press("Open")
    until(lambda: seen.moves == ["f6", "Swap sides", "a1"])


def saved(seen, form):
    seen.run(SAVED)
    seen.run("window.saved = null")
    seen.press("Menu")
    seen.press(f"Save .{form}")
    found = until(lambda: seen.run("return window.saved"))
    seen.press("Close")
    return found.encode()


@only_chromium
def test_a_saved_game_is_read_by_the_program_and_by_the_page(page, tmp_path):
    for name, line, form in (
        ("connect4", "4.4.3", "json"),
        ("gomoku", "h8.h9.a1", "json"),
        ("gomoku", "h8.h9.a1", "sgf"),
        ("go", "e5.c3.pass", "sgf"),
        ("hex", "f6.swap.a1", "sgf"),
    ):
        seen = page(name, link=f"#moves={line}&view=analyse")
        until(lambda: len(seen.moves) == 3)  # noqa: B023
        data = saved(seen, form)
        record = game_files.from_bytes(data, f".{form}", games.make(GAMES[name]))
        assert [record.game.move_name(move) for move in record.moves] == line.split(".")
        path = tmp_path / f"game.{form}"
        path.write_bytes(data)
        seen = page(name)
        load(seen, path)
        shown = line.replace("swap", "swap sides").split(".")
        until(lambda: [move.lower() for move in seen.moves] == shown)  # noqa: B023


def load(seen, path):
    seen.press("Menu")
    seen.browser.find_element("css selector", "input[type=file]").send_keys(str(path))


@only_chromium
def test_a_file_that_is_no_game_is_refused_with_a_line(page, tmp_path):
    seen = page("gomoku")
    for form, text, said in (
        ("json", "{", "it is not JSON"),
        ("json", '{"game": "go", "moves": []}', "this page plays gomoku"),
        ("json", '{"game": "gomoku(size=15)", "moves": ["h8", "h8"]}', "Move 2: h8 is not legal there."),
        ("json", '{"game": "gomoku(size=15)", "moves": ["z99"]}', "z99 is no move"),
        ("sgf", "(;GM[1]SZ[19];B[aa])", "another game"),
        ("sgf", "no game", "it is not SGF"),
        ("sgf", "(;GM[4]SZ[15];B[zz])", "is no move"),
        ("json", " " * 1_000_001, "too large"),
    ):
        path = tmp_path / f"bad.{form}"
        path.write_text(text)
        load(seen, path)
        until(lambda: said in seen.text("dialog [role=status]"))  # noqa: B023
        assert seen.stones == 0
        seen.press("Close")


@only_chromium
def test_the_result_that_a_file_states_is_kept_and_said(page, tmp_path):
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[1]SZ[9]KM[6.5]RE[W+3.5];B[ee];W[];B[])")
    seen = page("go")
    load(seen, path)
    seen.wait_for("This file has komi 6.5; this page counts with 7.5.")
    assert "KM[6.5]" in saved(seen, "sgf").decode()
    path.write_text("(;GM[1]SZ[9]KM[7.5]RE[W+3.5];B[ee];W[];B[])")
    load(seen, path)
    seen.wait_for("The file says W+3.5, which is kept; by the rules here it is B+1.", ".analysis")
    seen.wait_for("You lose.")
    record = game_files.from_bytes(saved(seen, "json"), ".json", games.make(GAMES["go"]))
    assert (record.result, record.stated) == (-1, {"result": "W+3.5"})


# ---- languages, hands, eyes


def test_the_page_is_in_chinese_and_says_so(page):
    seen = page()
    seen.press("Menu")
    seen.press("Language")
    until(lambda: seen.run("return document.documentElement.lang") == "zh")
    seen.press("关闭")
    assert "四子棋" in seen.text("h1") and "新手" in seen.text(".tiles")


@only_chromium
def test_a_game_is_played_by_the_keyboard_alone(page):
    from selenium.webdriver import ActionChains, Keys

    seen = page()
    seen.run("document.querySelector('.stage').focus()")
    hands = ActionChains(seen.browser)
    hands.send_keys(Keys.ARROW_UP, Keys.ARROW_LEFT, Keys.ENTER).perform()
    until(lambda: seen.stones == 2)
    assert seen.moves[0] == "3"
    ActionChains(seen.browser).send_keys("u").perform()
    until(lambda: seen.stones == 0)
    seen.press("Analyse")
    seen.press("Show the tree")
    until(lambda: "400 visits" in seen.text(".tree-words"))
    seen.run("document.querySelector('[data-key=tree-node]').focus()")
    now = "return document.activeElement.getAttribute('aria-label')?.split(':')[0]"
    ActionChains(seen.browser).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT).perform()
    line = until(lambda: seen.run(now))
    assert len(line.split()) == 2 and seen.count(".stage .line.shown") == 1
    ActionChains(seen.browser).send_keys(Keys.ARROW_LEFT).perform()
    assert seen.run(now) == line.split()[0] and seen.moves == []
    ActionChains(seen.browser).send_keys(Keys.ARROW_RIGHT, Keys.ENTER).perform()
    until(lambda: seen.moves == line.split())


@only_chromium
def test_small_points_are_confirmed_by_a_second_tap(page, browser):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        seen = page("gomoku")
        tap = """const p = document.querySelector('.stage [data-point="112"]');
            p.dispatchEvent(new PointerEvent('click', {bubbles: true, detail: 1, pointerType: 'touch'}))"""
        seen.run(tap)
        seen.wait_for("Tap again to play h8.")
        assert seen.stones == 0
        seen.run(tap)
        until(lambda: seen.stones == 2)
        assert seen.run("return document.documentElement.scrollWidth") == 390, "nothing is wider than the phone"
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@only_chromium
@pytest.mark.skipif(not AXE.is_file(), reason="needs axe: npm i axe-core, or AXE_JS names axe.min.js")
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_no_serious_fault(page, browser, scheme, width):
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wanted.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def faults():
        browser.execute_script(AXE.read_text(encoding="utf-8"))
        return browser.execute_async_script(RUN)

    try:
        seen = page(link="#moves=4.1.4.2.4.3&view=play")
        seen.click(17)
        seen.wait_for("You win.")
        found = {"end": faults()}
        seen.press("New game")
        seen.wait_for("Your move")
        other = ".opponents [data-key=Other]"
        seen.set(other, seen.run("return document.querySelector(arguments[0]).options[1].value", other))
        seen.set(".budget", "-1")
        found["start"] = faults()
        seen.press("Menu")
        found["menu"] = faults()
        seen.press("About this player")
        found["about"] = faults()
        seen.press("Close")
        seen = page(link="#moves=4.1.4.1.4.2.5.4&view=play")
        seen.lose()
        seen.press("Mistakes")
        seen.wait_for("Mistake 1 of", ".learn")
        found["learn"] = faults()
        seen.press("Analyse")
        seen.click(41)
        until(lambda: seen.count(".try"))
        seen.press("Show the tree")
        until(lambda: seen.count(".node") > 8)
        found["analyse"] = faults()
        assert seen.run("return document.documentElement.scrollWidth") <= width
        seen.press("Hide the tree")
        seen.press("Back to the game")
        until(lambda: seen.count(".accuracy") == 2)
        found["review"] = faults()
        seen.press("Puzzles")
        seen.press("Hint")
        found["puzzles"] = faults()
        seen = page("territory", link="#moves=b5.h5.h6.pass&view=play")
        seen.press("Pass")
        seen.wait_for("1 dead stone.")
        found["count"] = faults()
        assert not {where: what for where, what in found.items() if what}
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_link_holds_stones_that_were_set_up(page):
    seen = page("go", link="#black=e5.d4&white=e4&turn=white&moves=c3&ply=0&view=analyse")
    assert seen.stones == 3 and seen.moves == ["C3"]
    seen.press("Menu")
    seen.run("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }")
    seen.press("Copy link")
    copied = until(lambda: seen.run("return window.copied"))
    assert copied.endswith("#black=e5.d4&white=e4&turn=white&moves=c3&ply=0&view=analyse")
    for bad in ("black=zz&turn=white", "black=e5&white=e5&turn=black", "black=pass&turn=white"):
        seen = page("go", link=f"#{bad}")
        assert "This link cannot be opened." in seen.text(".status") and seen.stones == 0


@only_chromium
def test_it_plays_where_the_browser_lets_it_keep_nothing(browser, folder):
    path = folder / "frame.html"
    frame = f'<iframe sandbox="allow-scripts" width=900 height=900 src="{(folder / "connect4.html").as_uri()}">'
    path.write_text(f"<!doctype html><title>frame</title>{frame}", encoding="utf-8")
    browser.get(path.as_uri())
    browser.switch_to.frame(0)
    try:
        ask = "return [document.documentElement.dataset.ready, document.querySelectorAll('.stage .point').length]"
        until(lambda: browser.execute_script(ask) == ["", 42])
        browser.execute_script("""document.querySelector('.stage [data-point="38"]')
            .dispatchEvent(new MouseEvent('click', {bubbles: true}))""")
        until(lambda: browser.execute_script("return document.querySelectorAll('.side > .stone').length") == 2)
        faults = """const faults = [], press = (text) => [...document.querySelectorAll("button")]
            .find((one) => text === one.ariaLabel || one.innerText.startsWith(text)).click();
            addEventListener("error", ({message}) => faults.push(message));
            const item = () => [...document.querySelectorAll("dialog[open] button")]
                .find((one) => one.innerText.startsWith("Sounds")).innerText;
            press("Menu");
            const said = [item()];
            for (let i = 0; i < 2; i++) {
              press("Sounds");
              said.push(item());
            }
            return [faults, said.map((text) => /\\bon\\b/.test(text))]"""
        assert browser.execute_script(faults) == [[], [False, True, False]]
    finally:
        browser.switch_to.default_content()


@only_chromium
def test_what_is_chosen_holds_until_the_page_is_left_where_the_browsers_store_is_full(page):
    seen, names = page("connect4"), ("Numbers on the stones", "Sounds")
    find = """return [...document.querySelectorAll("dialog[open] button")]
        .find((one) => one.innerText.startsWith(arguments[0])).innerText"""

    def chosen():
        return [re.search(r"\b(on|off)\b", seen.run(find, name).removeprefix(name))[1] for name in names]

    seen.run("""let at = 0;
        for (let letters = 1 << 20; letters >= 1; letters >>= 1)
          try { for (;;) localStorage.setItem("full" + at++, "x".repeat(letters)); } catch {}""")
    try:
        seen.press("Menu")
        assert chosen() == ["off", "off"]
        for name in names:
            seen.press(name)
        assert chosen() == ["on", "on"] and seen.run("return [localStorage.numbers, localStorage.sounds]") == [None] * 2
    finally:
        seen.run("localStorage.clear()")
    for name in names:
        seen.press(name)
    assert seen.run("return [localStorage.numbers, localStorage.sounds]") == ["off", "off"], "there is room again"
