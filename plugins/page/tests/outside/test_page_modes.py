"""The modes Play and Analyse in a real browser: opponents, sides, results, the clock, sharing, words."""

import contextlib
import json
from dataclasses import replace

import pytest

from config import to_json
from plugins.page.tests.browser_page import Page, answered, needs_page
from storage.run_folders import game_folder
from support.browser import until
from support.tiny_runs import tiny

pytestmark = needs_page
chains = pytest.importorskip("selenium.webdriver.common.action_chains", reason="needs selenium to drive a browser")
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402

ENTER, ESCAPE = "\ue007", "\ue00c"
SMALL = "connect4(columns=4,n=2,rows=4)"
"""A game that the first player wins with the second stone."""
LEVELS = [("random", -200.0), ("rollout:4", -50.0), ("rollout:16", 150.0)]


@pytest.fixture(scope="module", autouse=True)
def levels(served):
    """Let a player of SMALL ship, with levels; its network is missing."""
    folder = served / "runs" / "none" / game_folder(SMALL) / "run0001"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(to_json(replace(tiny(), game=SMALL)))
    rows = [{"player": player, "sims": 0, "elo": elo, "error": 30.0} for player, elo in LEVELS]
    (folder / "levels.json").write_text(json.dumps({"levels": rows}))


def opened(browser, address, game=SMALL, more=""):
    page = Page(browser, address, f"&mode=play&game={game}{more}")
    until(lambda: page.count(".tile") > 3)
    return page


def tile(page, name):
    """Click a tile as people do, and wait until it is chosen."""
    found = until(lambda: [e for e in page.all(".tile") if e.text.startswith(name)])[0]
    page.run("arguments[0].scrollIntoView({block: 'center'})", found)
    found.click()
    until(lambda: any(one.startswith(name) for one in chosen(page)))


def chosen(page):
    return page.run("return [...document.querySelectorAll('.tile.on b')].map(e => e.innerText)")


def in_address(page, name):
    return page.run("return new URL(location).searchParams.get(arguments[0]) || ''", name)


def press_text(page, text):
    find = """[...document.querySelectorAll('button')].find(
        e => e.checkVisibility() && (e.querySelector('.block') ?? e).innerText === arguments[0])"""
    page.run("arguments[0].click()", until(lambda: page.run(f"return {find}", text)))


def seen(page, css):
    return page.run("return [...document.querySelectorAll(arguments[0])].some(e => e.checkVisibility())", css)


ANSWERS = ".eval", ".values", ".found", ".overlays", ".simulations", ".inside"


def test_in_play_a_line_says_what_wins(browser, address):
    page = Page(browser, address, "&game=gomoku&mode=play")
    until(lambda: page.text(".aim") == "5 stones in a row win: across, down or diagonally.")
    assert seen(page, ".aim")
    Page(browser, address, "&game=gomoku&mode=analyse")
    until(lambda: page.count(".aim") and not seen(page, ".aim"))


def test_the_page_opens_in_play_where_nothing_tells_the_answer(browser, address):
    browser.get(address + "&game=connect4")
    page = opened(browser, address, "connect4")
    until(lambda: in_address(page, "mode") == "play")
    before = page.moves
    page.click(38)
    assert answered(page, before)
    assert not any(seen(page, css) for css in ANSWERS)
    assert page.count(".found tr") == 0 and page.count(".stage .mark, .stage .line") == 0, "and nothing was searched"
    press_text(page, "Analyse")
    until(lambda: page.text(".simulations") == "400")
    assert all(seen(page, css) for css in ANSWERS) and page.moves == 2, "the same game"
    assert not seen(page, ".opponents") and seen(page, ".seats")
    until(lambda: in_address(page, "mode") == "analyse")
    browser.refresh()
    until(lambda: page.all(".stage svg") and page.text(".simulations") == "400" and page.moves == 2)
    press_text(page, "Play")
    until(lambda: not any(seen(page, css) for css in ANSWERS))
    assert page.count(".stage .mark, .stage .line") == 0
    until(lambda: in_address(page, "mode") == "play")


def test_a_hint_in_play_names_one_move_and_no_value(browser, address):
    page = opened(browser, address, "connect4", "&moves=414141&first=you&second=random")
    page.press("what would the search play")
    until(lambda: page.text(".note") == "Try 4.")
    until(lambda: page.count(".stage .hint") == 1)
    assert not any(seen(page, css) for css in ANSWERS)
    page.click(38)
    until(lambda: page.count(".stage .hint") == 0)


def test_opponents_are_seated_by_one_click_and_the_second_weakest_is_there_first(browser, address):
    page = opened(browser, address)
    assert page.run("return [...document.querySelectorAll('.tile b')].map(e => e.innerText)") == [
        "Beginner", "Club", "Master", "Fits me", "A friend", "Other ...",
    ]  # fmt: skip
    assert chosen(page) == ["Club"] and "Elo −50 ±30" in page.text(".tile.on")
    assert page.text(".players").split() == ["You", "Club"]
    tile(page, "Beginner")
    until(lambda: page.text(".players").split() == ["You", "Beginner"])
    until(lambda: in_address(page, "second") == "level:1")
    tile(page, "A friend")
    page.click(13)
    until(lambda: page.moves == 1 and page.status == "Yellow to move")
    assert not seen(page, ".seats")
    tile(page, "Other")
    until(lambda: seen(page, ".seats"))
    page.choose("player 2", "Rollouts")
    page.choose("level 2", "25 sims")
    until(lambda: "Rollouts" in page.text(".players"))


def test_a_game_without_levels_has_a_beatable_opponent_first(browser, address):
    page = opened(browser, address, "tictactoe")
    assert chosen(page) == ["Novice"] and "not measured" in page.text(".tile.on")
    until(lambda: in_address(page, "second") == "rollout@25")


def test_who_begins_is_chosen(browser, address):
    page = opened(browser, address)
    press_text(page, "Second")
    until(lambda: page.moves == 1 and page.status == "Yellow to move")
    assert page.text(".players").split() == ["Club", "You"]
    page.click(page.run("return [...document.querySelectorAll('.stage .point')].length") - 1)
    until(lambda: page.moves >= 3 or seen(page, ".ended"))
    open_ = not seen(page, ".ended")
    press_text(page, "Random")
    for count in range(40):  # a lot that always falls the same way would fail once in 2 ** 40
        page.press("a new game")
        if count == 0 and open_:
            page.answer("New game")
        until(lambda: page.moves == 0 or page.text(".players").split()[0] == "Club")
        if page.text(".players").split()[0] == "You":
            break
    else:
        pytest.fail("the person never begins")


def test_a_game_that_is_over_has_its_result_a_rematch_and_an_analysis(browser, address):
    page = opened(browser, address)
    tile(page, "Beginner")
    win(page)
    until(lambda: page.text(".result") == "You win.")
    assert "Red: 2 in a row." in page.text(".ended")
    press_text(page, "Rematch")
    until(lambda: page.text(".players").split() == ["Beginner", "You"] and page.moves == 1)
    assert not seen(page, ".ended")
    page.give_up()
    until(lambda: page.text(".result") == "You lose." and "Yellow resigned." in page.text(".ended"))
    press_text(page, "Analyse this game")
    until(lambda: seen(page, ".values"))
    assert seen(page, ".ended"), "the result is shown in both modes"


def win(page):
    """Win a game of SMALL as the first player: a stone in the middle, then one next to it."""
    page.click(4 * 3 + 1)
    until(lambda: page.moves == 2)
    taken = set().union(*page.stones())
    page.click(4 * 3 if 4 * 3 not in taken else 4 * 3 + 2)
    until(lambda: page.moves == 3)


def remembered(page):
    return page.run("return localStorage.getItem(arguments[0])", f"fits:{SMALL}")


def test_what_fits_moves_up_after_a_win_and_down_after_a_loss_and_is_remembered(browser, address):
    page = opened(browser, address)
    page.run("localStorage.clear()")
    tile(page, "Fits me")
    until(lambda: page.text(".players").split() == ["You", "Club"])
    win(page)
    until(lambda: remembered(page) == "2")
    page.press("a new game")
    until(lambda: page.text(".players").split() == ["You", "Master"])
    for _ in range(2):
        page.click(4 * 3 + 1)
        until(lambda: page.moves >= 2)
        page.give_up()
        until(lambda: page.text(".result") == "You lose.")
        page.press("a new game")
        until(lambda: page.moves == 0)
    until(lambda: remembered(page) == "0" and page.text(".players").split() == ["You", "Beginner"])
    page = opened(browser, address)
    tile(page, "Fits me")
    until(lambda: page.text(".players").split() == ["You", "Beginner"])
    page.click(4 * 3 + 1)
    until(lambda: page.moves == 2)
    page.press("undo")
    until(lambda: "Move 0 of 2" in page.status)
    page.press("redo")
    page.press("to the end")
    win_from_here = [p for p in (4 * 3, 4 * 3 + 2) if p not in set().union(*page.stones())]
    page.click(win_from_here[0])
    until(lambda: page.text(".result") == "You win.")
    assert remembered(page) == "0", "a game with a move taken back does not count"
    page.run("localStorage.clear()")


def test_a_clock_is_chosen_counts_and_outlives_a_reload(browser, address):
    page = opened(browser, address)
    tile(page, "A friend")
    assert page.count(".clock") == 0
    press_text(page, "3")
    until(lambda: page.count(".clock") == 2 and page.text(".clock") == "3:00 3:00")
    page.click(13)
    until(lambda: page.count('.clock[data-runs="1"]') == 1)
    until(lambda: page.text(".clock").split()[1] != "3:00")
    assert page.text(".clock").split()[0] == "3:00", "the time of who is not to move stands"
    press_text(page, "Analyse")
    until(lambda: page.count('.clock[data-runs="1"]') == 0)
    until(lambda: in_address(page, "clock") not in ("3+0,180.0,180.0", ""))
    browser.refresh()
    until(lambda: page.count(".clock") == 2 and page.text(".clock").split()[1] != "3:00")


def test_who_has_no_time_left_loses(browser, address):
    page = opened(browser, address, more="&first=you&second=you&clock=1%2B0,60.0,0.4")
    page.click(13)
    until(lambda: page.text(".result") == "Red wins.")
    assert "Yellow has no time left." in page.text(".ended")
    until(lambda: page.text(".clock").split()[1] == "0.0" and in_address(page, "resigned") == "second,late")


def test_a_machine_moves_within_its_time(browser, address):
    page = opened(browser, address, "connect4", "&first=you&second=rollout@10s&clock=1%2B0,60.0,20.0")
    for column in (38, 37):
        before = page.moves
        page.click(column)
        until(lambda: page.moves == before + 2 or seen(page, ".ended"))  # noqa: B023
    assert page.moves == 4 and not seen(page, ".ended"), "ten seconds a move would be its last ones"


# ---- sharing and words


@pytest.fixture
def clipboard(browser, address):
    """Let the page use the clipboard, as people allow it."""
    here = address.split("/?")[0]
    kinds = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    browser.execute_cdp_cmd("Browser.grantPermissions", {"origin": here, "permissions": kinds})
    yield
    browser.execute_cdp_cmd("Browser.resetPermissions", {})


def share(page, entry):
    page.press("share this position")
    item = "[...document.querySelectorAll('.q-menu .q-item')].find(e => e.innerText.trim() === arguments[0])"

    def clicked():
        with contextlib.suppress(StaleElementReferenceException):  # the menu was drawn again under the pointer
            element = page.run(f"return {item}", entry)
            return element is not None and (element.click() or True)

    until(clicked)


def test_a_link_holds_position_game_and_mode_but_no_token(browser, address, clipboard):
    page = opened(browser, address, "connect4", "&moves=4433&first=you&second=random")
    page.press("undo")
    until(lambda: "Move 2 of 4" in page.status)
    share(page, "Copy link")
    until(lambda: page.text(".note") == "The link is copied.")
    copied = browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
    assert copied == address.split("?")[0] + "?game=connect4&moves=44&mode=play"
    page = Page(browser, address, "&" + copied.split("?")[1])
    until(lambda: page.moves == 2)


def test_an_image_of_the_position_is_copied_or_saved(browser, address, clipboard, tmp_path):
    page = opened(browser, address, "connect4", "&moves=4433&first=you&second=random")
    share(page, "Copy image")
    until(lambda: page.text(".note") == "The image is copied.")
    size = browser.execute_async_script(
        "const done = arguments[0]; navigator.clipboard.read().then(async ([item]) => {"
        " const image = await createImageBitmap(await item.getType('image/png'));"
        " done([image.width, image.height]) }).catch(e => done(String(e)))"
    )
    assert min(size) > 500, size
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page.run("window.ClipboardItem = undefined")
    share(page, "Copy image")
    until(lambda: page.text(".note") == "The image is saved as a file.")
    until(lambda: [f for f in tmp_path.glob("*.png") if f.stat().st_size])
    assert next(tmp_path.glob("*.png")).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("column", ["N", "share", "P", "Q", "U", "V", "true"])
def test_the_columns_are_explained_under_the_pointer_and_with_the_focus(browser, address, column):
    page = Page(browser, address, "&game=connect4&moves=4433") if column == "N" else Page.__new__(Page)
    page.browser = browser
    head = until(lambda: page.all(f".found th.{column}"))[0]
    page.run("document.querySelector(arguments[0]).focus()", f".found th.{column}")
    words = until(lambda: page.text("#word"))
    assert len(words) > 30 and words == page.run(f"return document.querySelector('.found th.{column}').dataset.word")
    browser.find_element("tag name", "body").send_keys(ESCAPE)
    until(lambda: not seen(page, "#word"))
    with contextlib.suppress(Exception):
        page.run("arguments[0].blur()", head)
    chains.ActionChains(browser).move_to_element(page.all(".name")[0]).perform()
    chains.ActionChains(browser).move_to_element(page.all(f".found th.{column}")[0]).perform()
    assert until(lambda: page.text("#word")) == words


def test_what_a_search_shows_is_in_the_language_of_its_tab(browser, address):
    page = Page(browser, address, "&game=connect4&moves=44&mode=analyse&language=zh&first=you&second=random")
    until(lambda: page.count(".simulations") and page.text(".simulations") == "400")
    assert "着法" in page.text(".inside th") and page.text(".record .status") == "轮到红方"
