"""The review of a game in a real browser: marks, the better move on the board, another try, stored games."""

import pytest

from plugins.page.tests.browser_page import Page, needs_page
from storage.game_files import Record, save
from support.browser import until
from support.game_samples import GAMES

pytestmark = needs_page
TICTACTOE = "&view=play&game=tictactoe"
LOST = "&moves=a1 b2 c3 a3 c1 b1 c2"
"""The fourth move, of O, loses a draw."""


def buttons(page, place, words):
    """Return the buttons that are shown with these words, next to their icons."""
    return [b for b in page.all(f"{place} button") if b.is_displayed() and words in b.text.split("\n")]


def keys(browser):
    """Return f(key), which presses a key where the focus is."""
    chains = pytest.importorskip("selenium.webdriver.common.action_chains")
    return lambda key: chains.ActionChains(browser).send_keys(key).perform()


def reviewed(page, count):
    """Press the button, and wait until all moves are judged."""
    until(lambda: buttons(page, ".review", "Review the game"))[0].click()
    until(lambda: page.count(".losses .ply") == count and "All values are exact." in page.text(".review"))


def marked(page):
    """Return the moves in the list whose colour is not that of all."""
    return page.run("""const [all, ...others] = [...document.querySelectorAll('.moves button:not(.here)')];
        return others.filter(e => getComputedStyle(e).color !== getComputedStyle(all).color)
            .map(e => `${e.innerText} ${e.title}`)""")


def test_a_game_that_is_over_is_reviewed_and_played_again_from_a_mistake(browser, address):
    page = Page(browser, address, f"{TICTACTOE}&mode=play&first=random&second=you{LOST}")
    until(lambda: page.moves == 7 and page.count(".ended .result"))
    assert page.count(".chip") == 0 and page.count(".stage .better") == 0, "nothing tells the answer unasked"
    assert not marked(page)
    reviewed(page, 7)
    assert marked(page) == ["a3? mistake"], "in the list of moves"
    assert [chip.text.replace("\n", " ") for chip in page.all(".chip")] == ["4. a3? turning point"]
    assert "100 %" in page.text(".accuracy") and "1 mistake" in page.text(".accuracy")
    page.all(".chip")[0].click()
    until(lambda: "Move 3 of 7" in page.status and page.count(".stage .better .stone"))
    assert page.text(".stage .mark") == "?", "on the move that was played"
    assert "played a3, mistake: from drawn to lost." in page.text(".answer")
    assert page.run("return document.activeElement.classList.contains('chip')"), "the keyboard stays on the mark"
    buttons(page, ".answer", "Try again from here")[0].click()
    until(lambda: page.moves == 3 and page.count(".stage .better") == 0 and page.count(".chip") == 0)
    page.click(3)
    until(lambda: page.moves >= 5 or "wins" in page.status)
    buttons(page, ".record", "Back to the game (move 3)")[0].click()
    until(lambda: page.moves == 7 and marked(page) == ["a3? mistake"])
    assert page.count(".chip") == 1, "the review is there again"


def test_marks_of_the_machine_are_no_positions_to_try_again(browser, address):
    page = Page(browser, address, f"{TICTACTOE}&mode=play&first=you&second=random{LOST}")
    until(lambda: page.moves == 7)
    reviewed(page, 7)
    page.all(".chip")[0].click()
    until(lambda: page.count(".stage .better"))
    assert not [b for b in page.all(".answer button") if b.is_displayed()]
    page.send_click('.losses [data-review="5"]')
    until(lambda: "Move 6 of 7" in page.status and page.count(".stage .better") == 0)


def test_a_file_is_reviewed_in_analyse_with_the_keyboard_and_another_game_ends_the_review(browser, address, tmp_path):
    game = GAMES["tictactoe"]
    save(tmp_path / "game.json", Record(game, game.parse_moves("a1 b2 c3 a3")))
    press, page = keys(browser), Page(browser, address, TICTACTOE)
    assert not [b for b in page.all(".review button") if b.is_displayed()], "there is nothing to review yet"
    page.press("files and text")
    until(lambda: page.all("input[type=file]"))[0].send_keys(str(tmp_path / "game.json"))
    until(lambda: "Move 0 of 4" in page.status)
    press("\ue00c")  # Escape closes the menu
    until(lambda: not page.count(".q-menu"))
    page.run("arguments[0].focus()", until(lambda: buttons(page, ".review", "Review the game"))[0])
    press("\ue007")
    until(lambda: "All values are exact." in page.text(".review"))
    page.run("document.querySelector('.chip').focus()")
    press("\ue007")
    until(lambda: page.count(".stage .better"))
    press("\ue012")  # left: the position before
    until(lambda: "Move 2 of 4" in page.status and page.count(".stage .better") == 0)
    assert page.count(".chip") == 1, "the review stays"
    page.click(1)
    until(lambda: page.moves == 3 and page.count(".chip") == 0 and not marked(page))
    page.press("a new game")
    until(lambda: page.moves == 0)
    assert not buttons(page, ".record", "Back to the game (move 2)")


def test_a_review_by_search_is_stopped_and_begun_again(browser, address):
    names = [f"{column}{row}" for row in range(1, 15, 2) for column in "acegikm"]
    page = Page(browser, address, f"&view=play&game=gomoku(size=15)&moves={' '.join(names)}")
    begin = until(lambda: buttons(page, ".review", "Review the game"))[0]
    begin.click()
    until(lambda: buttons(page, ".review", "Stop"))[0].click()
    until(begin.is_displayed)
    assert page.count(".losses .ply") < len(names)
    begin.click()
    until(lambda: page.count(".losses .ply"))
    page = Page(browser, address, "&view=play&game=gomoku&moves=e5 e6 f5 f6 d5 c5")
    until(lambda: buttons(page, ".review", "Review the game"))[0].click()
    until(lambda: "of 6 moves are judged exactly, the others by" in page.text(".review"))
    assert page.count(".losses .ply") == 6


@pytest.mark.parametrize("language, button", [("zh", "复盘本局"), ("en", "Review the game")])
def test_the_panel_speaks_the_language_of_the_tab(browser, address, language, button):
    page = Page(browser, address, f"{TICTACTOE}{LOST}&language={language}")
    begin = until(lambda: buttons(page, ".review", button))[0]
    begin.click()
    words = {"zh": "所有评估均为精确值。", "en": "All values are exact."}[language]
    until(lambda: words in page.text(".review"))
    assert {"zh": "转折点", "en": "turning point"}[language] in page.text(".chip")
