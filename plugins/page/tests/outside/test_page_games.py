"""The page in a real browser: files, resigning, swapping sides, machines among themselves, the tree, keyboard only."""

import pytest

from plugins.page.tests.browser_page import CONNECT4, Page, answered, needs_page, people
from storage.game_files import from_bytes
from support.browser import until

pytestmark = needs_page
TAB, ENTER = "\ue004", "\ue007"
LEFT, UP, RIGHT = "\ue012", "\ue013", "\ue014"


def load(page, path):
    """Choose a file as people do."""
    if not page.count("input[type=file]"):
        page.press("files and text")
    until(lambda: page.all("input[type=file]"))[0].send_keys(str(path))


def test_a_game_is_saved_to_a_file_and_loaded_again(browser, address, tmp_path):
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    page = people(browser, address, CONNECT4 + "&moves=4433")
    page.press("files and text")
    page.press("download as .json")
    saved = tmp_path / "connect4.json"
    until(lambda: saved.exists() and saved.stat().st_size and not list(tmp_path.glob("*.crdownload")))
    assert from_bytes(saved.read_bytes(), ".json", None).moves == [3, 3, 2, 2]
    page = Page(browser, address, "&game=tictactoe")
    load(page, saved)
    until(lambda: "Move 0 of 4" in page.status)
    until(lambda: not page.count(".q-menu"))
    assert page.count(".stage .point") == 42, "the file tells the game"
    page.press("to the end")
    until(lambda: page.stones() == [{5 * 7 + 3, 5 * 7 + 2}, {4 * 7 + 3, 4 * 7 + 2}])


def test_a_file_is_read_in_its_own_encoding_and_its_notes_are_shown(browser, address, tmp_path):
    file = tmp_path / "game.sgf"
    file.write_bytes("(;GM[1]SZ[9]CA[Shift_JIS]KM[375]PB[白石表];B[ee];W[cc])".encode("shift_jis"))
    page = Page(browser, address, "&game=tictactoe")
    load(page, file)
    until(lambda: "Move 0 of 2" in page.status)
    assert "KM[375] is read as komi 7.5" in page.text(".note")


@pytest.mark.parametrize(
    "name, text, told",
    [("a.json", "{}", "expected"), ("b.txt", "4444444", "move 7"), ("c.pdf", "44", "a file that ends in .json"),
     ("d.txt", "4" * 2_000_000, "of at most")],
)  # fmt: skip
def test_a_file_that_holds_no_game_changes_nothing_and_says_why(browser, address, tmp_path, name, text, told):
    page = people(browser, address, CONNECT4 + "&moves=44")
    (tmp_path / name).write_text(text)
    load(page, tmp_path / name)
    assert told in until(lambda: page.text(".note"))
    assert page.moves == 2 and sum(map(len, page.stones())) == 2


def test_a_position_is_shared_as_text(browser, address):
    page = people(browser, address, CONNECT4 + "&moves=4433")
    page.press("files and text")
    field = until(lambda: page.all(".moves-text input"))[0]
    assert field.get_attribute("value") == "4433"
    page.run("arguments[0].select()", field)
    field.send_keys("1234567" + ENTER)
    until(lambda: page.moves == 7)
    page.run("arguments[0].select()", field)
    field.send_keys("12x" + ENTER)
    assert "x" in until(lambda: page.text(".note")) and page.moves == 7


def test_the_stones_bear_the_numbers_of_the_moves_on_demand(browser, address):
    page = people(browser, address, CONNECT4 + "&moves=4435")
    numbers = "return [...document.querySelectorAll('.stage .number')].map(e => e.textContent).sort().join(' ')"
    assert page.run(numbers) == ""
    page.press("numbers of the moves")
    until(lambda: page.run(numbers) == "1 2 3 4")
    page.press("one move back")
    until(lambda: page.run(numbers) == "1 2 3")
    page.press("numbers of the moves")
    until(lambda: page.run(numbers) == "")


def test_resigning_ends_the_game_for_who_resigns_and_can_be_taken_back(browser, address):
    page = Page(browser, address, CONNECT4)
    page.choose("player 2", "Random")
    page.click(38)
    until(lambda: page.moves == 2)
    page.give_up()
    until(lambda: page.status == "Yellow wins. The other side resigned.")
    page.click(38)
    assert "over" in until(lambda: page.text(".note")) and page.moves == 2
    page.press("to the start")
    until(lambda: "to move" in page.status)
    page.click(38)
    until(lambda: page.moves == 2 and "Red to move" in page.status)


def test_sides_are_swapped_and_the_machine_begins(browser, address):
    page = Page(browser, address, CONNECT4)
    page.choose("player 2", "Random")
    page.press("swap sides")
    until(lambda: page.moves == 1 and page.status == "Yellow to move")
    first, second = page.stones()
    assert len(first) == 1 and not second, "the machine has red now"
    page.click(5 * 7 + 3)
    until(lambda: page.moves == 3)


def test_machines_play_each_other_and_can_be_stopped_and_gone_on_with(browser, address):
    page = Page(browser, address, "&game=tictactoe")
    page.choose("player 2", "Random")
    page.choose("player 1", "Random")
    until(lambda: "wins" in page.status or "draw" in page.status)
    assert page.moves >= 5
    page = people(browser, address, CONNECT4)
    page.choose("player 2", "Rollouts")
    page.choose("level 2", "10 seconds")
    page.choose("player 1", "Random")
    until(lambda: "Yellow is thinking" in page.status)
    page.press("stop the machines")
    until(lambda: "waiting" in page.status)
    moves = page.moves
    page.choose("level 2", "25 sims")
    assert page.moves == moves and "waiting" in page.status, "whatever is set, they wait"
    page.press("the machines play on")
    until(lambda: page.moves >= moves + 2)


def test_a_seat_taken_in_the_middle_of_a_search_stops_it(browser, address):
    page = people(browser, address, CONNECT4)
    page.choose("player 2", "Rollouts")
    page.choose("level 2", "10 seconds")
    page.click(38)
    until(lambda: "Yellow is thinking" in page.status)
    page.click(38)
    assert "machine's turn" in until(lambda: page.text(".note"))
    page.choose("player 2", "Person")
    until(lambda: page.status == "Yellow to move")
    page.click(38)
    until(lambda: page.moves == 2)


def test_a_hint_names_a_move_and_shows_it_on_the_board(browser, address):
    page = people(browser, address, CONNECT4 + "&moves=414141")
    page.press("what would the search play")  # before there is an answer or after it
    until(lambda: "The search would play 4: " in page.text(".note"))  # four on top of three wins
    until(lambda: page.count(".stage .hint"))
    until(lambda: "wins" in page.text(".found"))
    assert page.moves == 6


def test_the_search_tree_opens_row_by_row(browser, address):
    page = people(browser, address, CONNECT4 + "&moves=44")
    until(lambda: page.text(".simulations") == "400")
    page.run("document.querySelector('.inside .q-expansion-item__container .q-item').click()")
    until(lambda: page.count(".tree > ul > li") >= 5)
    shown = "return [...document.querySelectorAll('.tree li')].filter(e => e.checkVisibility()).length"
    closed = page.run(shown)
    page.run("document.querySelector('.tree > ul > li > details > summary').click()")
    until(lambda: page.run(shown) > closed)
    rows = "[...document.querySelectorAll('.tree > ul > li > details > summary, .tree > ul > li > div')]"
    visits = [int(text.split("N ")[1].split(",")[0]) for text in page.run(f"return {rows}.map(e => e.innerText)")]
    assert visits == sorted(visits, reverse=True) and 350 < sum(visits) <= 400


def focus(page, keys, found, presses=60):
    """Press Tab until the element with the focus is the one that is looked for."""
    for _ in range(presses):
        if page.run(f"const e = document.activeElement; return {found}"):
            return
        keys.send_keys(TAB).perform()
    pytest.fail(f"the keyboard does not reach {found}")


def test_whole_games_are_played_with_the_keyboard_only(browser, address):
    from selenium.webdriver import ActionChains

    page = Page(browser, address, CONNECT4)
    keys = ActionChains(browser)
    focus(page, keys, "e.role === 'combobox' && e.ariaLabel === 'Yellow'")
    keys.send_keys(ENTER).perform()
    until(lambda: page.count(".q-menu .q-item") > 3)
    option = "[...document.querySelectorAll('.q-menu .q-item')].find(e => e.innerText.startsWith('Random'))"
    for _ in range(40):
        if page.run(f"return {option}?.classList.contains('q-manual-focusable--focused')"):
            break
        keys.send_keys(UP).perform()
    keys.send_keys(ENTER).perform()
    until(lambda: "Random" in page.text(".seat"))
    page.run("document.activeElement.blur()")
    focus(page, keys, "e.classList.contains('stage')")
    keys.send_keys(UP).perform()  # the cursor appears in the middle
    goes_on = True
    while goes_on:
        before, taken = page.moves, set().union(*page.stones())
        columns = min(set(range(7)) - taken) - int(page.run("return document.querySelector('.cursor').dataset.action"))
        keys.send_keys((RIGHT if columns > 0 else LEFT) * abs(columns) + ENTER).perform()
        goes_on = answered(page, before)
    assert page.run("return document.activeElement.classList.contains('stage')"), "the board keeps the focus"
    focus(page, keys, "e.getAttribute('aria-label') === 'a new game'")
    keys.send_keys(ENTER).perform()
    until(lambda: page.moves == 0)
