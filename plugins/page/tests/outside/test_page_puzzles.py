"""Puzzles and the teacher on the page, in a browser."""

import json

import pytest

import games
from evaluation.puzzles import LOSES, shipped_puzzles
from games.line_of_moves import after_moves
from plugins.page.puzzles_tab import CLEAN, HELPED, progress
from plugins.page.tests.browser_page import Page, needs_page
from support.browser import until

pytestmark = needs_page
pytest.importorskip("selenium.webdriver", reason="needs selenium to drive a browser")

TICTACTOE = shipped_puzzles(games.make("tictactoe"))


def opened(browser, address, more="&game=tictactoe"):
    """Open the view of puzzles, with nothing remembered."""
    page = Page(browser, address, f"&view=puzzles{more}")
    page.run("localStorage.clear()")
    return reopened(browser, address, more)


def reopened(browser, address, more="&game=tictactoe"):
    page = Page(browser, address, f"&view=puzzles{more}")
    until(lambda: page.count(".puzzles .stage .point") or page.count(".puzzles .numbers .clean"))
    return page


def press(page, text):
    """Press a button of the view by what it reads."""
    buttons = "[...document.querySelectorAll('.puzzles .tools button')]"
    find = f"return {buttons}.find(b => b.innerText.includes(arguments[0]))"
    until(lambda: page.run(find, text)).click()


def verdict(page):
    return page.text(".puzzles .verdict")


def here(page):
    """Return the number of the puzzle that is open."""
    return int(page.text(".puzzles .numbers [aria-current]") or 0)


def kept(page):
    return json.loads(page.run("return localStorage.getItem('puzzles')") or "{}")


def solve(page, puzzle):
    """Play the right moves."""
    for step in range(0, puzzle.asked, 2):
        before = verdict(page)
        page.click(puzzle.line[step])
        until(lambda: verdict(page) != before)  # noqa: B023


def test_a_puzzle_is_solved_by_clicking_and_remembered(browser, address):
    page = opened(browser, address)
    assert here(page) == 1 and "to move: one move" in page.text(".puzzles .ask")
    solve(page, TICTACTOE[0])
    until(lambda: "Solved." in page.text(".puzzles .ask"))
    until(lambda: kept(page) == {"tictactoe": {"1": CLEAN}})
    assert page.count(".puzzles .numbers .clean") == 1
    press(page, "Next")
    until(lambda: here(page) == 2)
    page = reopened(browser, address)
    until(lambda: here(page) == 2)
    assert page.count(".puzzles .numbers .clean") == 1, "the browser remembers what is solved"


def test_a_wrong_move_is_refuted_on_the_board(browser, address):
    page = opened(browser, address)
    puzzle = TICTACTOE[0]
    state = after_moves(games.make("tictactoe"), puzzle.moves)
    bad = next(a for a in state.allowedActions if a != puzzle.line[0] and puzzle.refutation(0, a).outcome == LOSES)
    stones = page.count(".puzzles .stage svg > .stone")
    page.click(bad)
    until(lambda: "loses: the reply is" in verdict(page))
    line = puzzle.refutation(0, bad).line
    assert page.count(".puzzles .refutation text") == 1 + len(line), "the move and what answers it, numbered"
    assert page.run("return getComputedStyle(document.querySelector('.refutation')).visibility") == "visible"
    assert page.count(".puzzles .stage svg > .stone") == stones, "it is not played"
    press(page, "Try again")
    until(lambda: page.count(".puzzles .refutation") == 0)
    solve(page, puzzle)
    until(lambda: kept(page) == {"tictactoe": {"1": HELPED}})


def test_a_puzzles_board_is_told_like_that_of_a_game(browser, address):
    page = opened(browser, address)
    board = "document.querySelector('.puzzles .stage')"
    assert page.run(f"return {board}.getAttribute('role')") == "application"
    words = page.run(f"return JSON.parse({board}.querySelector('svg').dataset.words)")
    assert words == {"0": "empty", "1": "X", "-1": "O"}
    shown, sent = page.run("""const shown = document.querySelector('.puzzles .point.free'), sent = [];
        const fake = {target: shown, detail: 1, pointerType: "touch"};
        const box = shown.getBoundingClientRect; shown.getBoundingClientRect = () => ({width: 20});
        for (const _ of [1, 2]) sent.push(confirmed(fake, shown)); shown.getBoundingClientRect = box;
        return [document.querySelector('.tap-ghost') === null, sent]""")
    assert shown and sent == [False, True], "a small point is confirmed here, too"


def test_what_another_tab_solves_meanwhile_stays_solved(browser, address):
    page = opened(browser, address)
    page.run("""localStorage.setItem('puzzles', '{"connect4": {"3": 1}, "tictactoe": {"2": 2}}')""")
    press(page, "Solution")
    until(lambda: kept(page) == {"connect4": {"3": CLEAN}, "tictactoe": {"1": HELPED, "2": HELPED}})
    keep = "keepSolved('puzzles', 99, 'tictactoe', 2, arguments[0])"
    page.run(f"{keep.replace('arguments[0]', '1')}; {keep}", HELPED)
    assert kept(page)["tictactoe"] == {"1": HELPED, "2": CLEAN}, "the better kind counts"
    for none_of_ours in ("{", "7", "[[]]", '{"tictactoe": 4}', "null", "[" * 5000):
        page.run(f"localStorage.setItem('puzzles', arguments[0]); {keep.replace('arguments[0]', '2')}", none_of_ours)
        assert kept(page)["tictactoe"] == {"2": HELPED}


def test_a_hint_has_three_steps(browser, address):
    page = opened(browser, address, "&game=connect4")
    game = games.make("connect4")
    puzzle = shipped_puzzles(game)[0]
    press(page, "Hint")
    until(lambda: verdict(page))
    first = verdict(page)
    assert page.count(".puzzles .mark") == 0
    press(page, "Hint")
    until(lambda: "Look at the columns" in verdict(page))
    assert 1 <= page.count(".puzzles .mark") <= 3
    press(page, "Hint")
    until(lambda: verdict(page) == f"The move is {game.move_name(puzzle.line[0])}.")
    assert page.count(".puzzles .mark") == 1 and first
    press(page, "Solution")
    until(lambda: "The solution:" in verdict(page))
    assert page.count(".puzzles .refutation text") and not page.count(".puzzles .stage .point")


def test_a_puzzle_that_is_over_is_opened_in_analyse_with_its_solution(browser, address):
    page = opened(browser, address)
    assert "Analyse" not in page.text(".puzzles .tools")
    press(page, "Solution")
    until(lambda: "The solution:" in verdict(page))
    press(page, "Analyse")
    until(lambda: page.count(".moves button") == len(TICTACTOE[0].moves) + len(TICTACTOE[0].line))
    stones = len(TICTACTOE[0].moves)
    until(lambda: "mode=analyse" in browser.current_url and f"Move {stones} of" in page.status)


def test_the_tip_of_a_button_does_not_cover_what_is_said(browser, address):
    from selenium.webdriver import ActionChains

    page = opened(browser, address)
    hint = until(lambda: [e for e in page.all('button[aria-label^="a hint"]') if e.is_displayed()])[0]
    ActionChains(browser).move_to_element(hint).click().perform()
    until(lambda: verdict(page) and page.count(".q-tooltip"))
    until(lambda: page.run("return document.querySelector('.q-tooltip').getBoundingClientRect().height") > 10)
    bottom, top = page.run("""return [document.querySelector('.q-tooltip').getBoundingClientRect().bottom,
        document.querySelector('.puzzles .verdict').getBoundingClientRect().top]""")
    assert bottom <= top


def test_a_level_and_a_puzzle_are_chosen(browser, address):
    page = opened(browser, address, "&game=othello(size=6)")
    found = shipped_puzzles(games.make("othello(size=6)"))
    hard = [n for n, p in enumerate(found, 1) if p.level == "hard"]
    find = "return [...document.querySelectorAll('.puzzles .q-btn-group button')].find(b => b.innerText === 'hard')"
    page.run(find).click()
    until(lambda: page.count(".puzzles .numbers button") == len(hard) and here(page) == hard[0])
    page.run(f"document.querySelector('.numbers [data-number=\"{hard[-1]}\"]').click()")
    until(lambda: here(page) == hard[-1])
    assert "hard" in page.text(".puzzles .ask")


def test_a_puzzle_is_solved_by_the_keyboard(browser, address):
    page = opened(browser, address)
    puzzle = TICTACTOE[0]
    page.run("document.querySelector('.puzzles .stage').focus()")
    keys = browser.switch_to.active_element
    row, column = divmod(puzzle.line[0], 3)
    keys.send_keys("\ue012")  # the first arrow puts the cursor in the middle
    keys.send_keys("\ue013" * (1 - row) + "\ue015" * (row - 1) + "\ue012" * (1 - column) + "\ue014" * (column - 1))
    keys.send_keys("\ue007")
    until(lambda: "Right." in verdict(page) or "Solved." in verdict(page))


def test_the_view_is_in_the_language_of_the_browser(browser, address):
    page = opened(browser, address, "&game=tictactoe&language=zh")
    assert "第 1 题" in page.text(".puzzles .ask") and "Puzzle" not in page.text(".puzzles")


def test_a_phone_does_not_scroll_sideways(browser, address):
    page = opened(browser, address)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        until(lambda: page.run("return innerWidth") == 390)
        assert page.run("return document.documentElement.scrollWidth") <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize(
    "text, found",
    [('{"go": {"1": 1, "2": 2, "x": 1, "3": 7}, "no": 5}', {"go": {"1": 1, "2": 2}}), ("", {}), ("[", {}), ("[1]", {}),
     (None, {}), ("9" * 200_000, {}), ('{"go": {"\u00b2": 1, "' + "9" * 5000 + '": 1, "3": 2}}', {"go": {"3": 2}})],
)  # fmt: skip
def test_what_a_browser_kept_is_read_with_care(text, found):
    assert progress(text) == found


# ---- the teacher


def teacher(browser, address, moves):
    """Open a game with the teacher looking at the moves."""
    page = Page(browser, address, f"&view=play&mode=play&game=tictactoe&moves={moves}")
    until(lambda: page.count(".stage .point") and page.count(".teacher .q-toggle"))
    page.run("document.querySelector('.teacher .q-toggle').click()")
    until(lambda: page.run("return document.querySelector('.teacher .q-toggle').ariaChecked") == "true")
    return page


def lesson(page):
    return page.text(".teacher .verdict")


def button(page, text):
    find = "return [...document.querySelectorAll('.teacher button')].find(b => b.innerText.includes(arguments[0]))"
    until(lambda: page.run(find, text)).click()


def test_a_bad_move_is_held_with_the_reason_and_played_when_one_insists(browser, address):
    game = games.make("tictactoe")
    page = teacher(browser, address, "a1%20b1")
    bad, good = game.parse_move("c3"), game.parse_move("b2")
    page.click(bad)
    until(lambda: "c3 misses the win" in lesson(page))
    assert "wins." in lesson(page) and page.moves == 2, "it is not played, and nobody answers"
    button(page, "Take it back")
    until(lambda: not lesson(page))
    assert page.moves == 2
    page.click(bad)
    until(lambda: "c3 misses the win" in lesson(page))
    button(page, "Play it anyway")
    until(lambda: page.moves >= 3)
    page = teacher(browser, address, "a1%20b1")
    page.click(good)
    until(lambda: page.moves >= 3)
    assert not lesson(page)


def test_a_move_that_was_held_is_forgotten_when_the_game_changes(browser, address):
    page = teacher(browser, address, "a1%20b1")
    page.click(games.make("tictactoe").parse_move("c3"))
    until(lambda: "c3 misses the win" in lesson(page))
    page.press("to the start")
    until(lambda: not lesson(page))
    assert not [b for b in page.all(".teacher button") if b.is_displayed()], "no button that does nothing"


def test_on_a_phone_a_held_move_is_explained_next_to_the_board(browser, address):
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page = teacher(browser, address, "a1%20b1")
        page.run("scrollTo(0, 0)")
        page.click(games.make("tictactoe").parse_move("c3"))
        until(lambda: "c3 misses the win" in lesson(page))
        box = "return [...document.querySelectorAll(arguments[0])].pop().getBoundingClientRect().toJSON()"
        until(lambda: page.run(box, ".teacher button")["bottom"] <= 844)
        assert page.run(box, ".stage")["bottom"] > 300
        assert page.run(box, ".teacher")["top"] < page.run(box, ".moves")["top"]
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_without_the_teacher_a_bad_move_is_played(browser, address):
    page = Page(browser, address, "&view=play&game=tictactoe&moves=a1%20b1")
    until(lambda: page.count(".stage .point"))
    page.click(games.make("tictactoe").parse_move("c3"))
    until(lambda: page.moves >= 3)
