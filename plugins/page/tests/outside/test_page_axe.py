"""Axe on every screen of the page: no serious or critical fault. Then the keyboard alone: a game and the views.

Axe is a program of its own (npm i axe-core): it is taken from AXE_JS or from node_modules of the checkout.
"""

import os
from pathlib import Path

import pytest

from plugins.page.app import VIEWS
from plugins.page.tests.browser_page import Page, needs_page
from storage.game_files import PERSON
from support.browser import until

pytestmark = needs_page
webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium to drive a browser")
HERE = Path(__file__).parents[4]
AXE = Path(os.environ.get("AXE_JS") or HERE / "node_modules" / "axe-core" / "axe.min.js")
needs_axe = pytest.mark.skipif(not AXE.is_file(), reason="needs axe: npm i axe-core, or AXE_JS names axe.min.js")
RUN = """const done = arguments[0], grave = ["serious", "critical"];
axe.run(document, {resultTypes: ["violations"]}).then((found) => done(found.violations
    .filter((fault) => grave.includes(fault.impact))
    .flatMap((fault) => fault.nodes.map((node) => `${fault.id}: ${node.html.slice(0, 300)}`))))"""
WIDTHS = {"wide": 1280, "phone": 390}
MODES = "play", "analyse"


@pytest.fixture
def seen_as(browser):
    """Return what shows the page in a colour scheme and at a width; afterwards it is shown as usual."""

    def show(scheme, width):
        size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    yield show
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def faults(browser):
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    return browser.execute_async_script(RUN)


def opaque(page, css):
    """Return whether an element is there and no longer fades in."""
    return page.run("const e = document.querySelector(arguments[0]); return e && getComputedStyle(e).opacity == 1", css)


def opened(browser, address, more):
    """Return a page on which a view has been built."""
    page = Page.__new__(Page)
    page.browser = browser
    browser.get(address + more)
    until(lambda: any(e.is_displayed() for e in page.all(".sheet .card, .learn")))
    return page


@needs_axe
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_has_a_serious_fault(browser, address, seen_as, scheme, width):
    seen_as(scheme, WIDTHS[width])
    found = {}
    for mode in MODES:
        page = opened(browser, address, f"&view=play&game=connect4&mode={mode}&moves=4453")
        until(lambda: page.moves == 4)  # noqa: B023
        if mode == "analyse":
            until(lambda: page.count(".found tr[data-hover]"))  # noqa: B023
        found[mode] = faults(browser)
    for view in VIEWS[1:]:
        opened(browser, address, f"&view={view}&game=connect4")
        found[view] = faults(browser)
    assert {screen: wrong for screen, wrong in found.items() if wrong} == {}


@needs_axe
@pytest.mark.parametrize("spec, moves", [("gomoku", "e5 d4"), ("tictactoe", "a1 a3 b2 b3 c3"), ("othello", "f5d6")])
def test_no_board_has_a_serious_fault(browser, address, spec, moves):
    page = opened(browser, address, f"&game={spec}&mode=play&moves={moves}")
    until(lambda: page.moves)
    assert faults(browser) == []


@needs_axe
def test_the_editor_has_no_serious_fault(browser, address):
    page = opened(browser, address, "&game=gomoku&mode=play")
    page.press("files and text")
    page.press("set up a position")
    until(lambda: page.all(".set-up .point"))
    until(lambda: not page.count(".q-menu"))
    until(lambda: opaque(page, ".editor"))
    assert faults(browser) == []


@needs_axe
@pytest.mark.parametrize("name", ["files and text", "share this position"])
def test_no_menu_has_a_serious_fault(browser, address, name):
    page = opened(browser, address, "&game=gomoku&mode=play")
    page.press(name)
    until(lambda: opaque(page, ".q-menu"))
    assert faults(browser) == []


@needs_axe
def test_no_dialog_has_a_serious_fault(browser, address):
    page = opened(browser, address, "&game=gomoku&mode=play&first=you&second=you&moves=e5")
    for label in ("keyboard shortcuts", "give the game up"):
        page.press(label)
        until(lambda: page.count(".question"))
        until(lambda: opaque(page, ".q-dialog__inner"))
        assert faults(browser) == []
        browser.find_element("tag name", "body").send_keys("\ue00c")  # Escape
        until(lambda: not page.count(".question"))


@needs_axe
def test_own_games_and_a_low_clock_have_no_serious_fault(browser, address):
    opened(browser, address, "&view=games").run("localStorage.removeItem('mine')")  # of other tests
    page = opened(browser, address, f"&game=tictactoe&mode=play&first={PERSON}&second={PERSON}")
    page.click(4)
    until(lambda: page.run("return localStorage.getItem('mine')"))
    opened(browser, address, "&view=games")
    until(lambda: [b for b in page.all("button") if b.text == "Mine"])[0].click()
    until(lambda: page.count("[data-game]") == 1)
    until(lambda: not page.run("return document.getAnimations().some((a) => a instanceof CSSTransition)"))
    assert faults(browser) == []
    page.run("localStorage.removeItem('mine')")
    opened(browser, address, "&game=connect4&mode=analyse&moves=44&first=you&second=you&clock=1%2B0,9.0,9.0")
    until(lambda: page.count(".clock.low") == 2 and page.count(".main-line button"))
    assert faults(browser) == []


@needs_axe
def test_an_open_list_has_no_serious_fault(browser, address):
    page = opened(browser, address, "&game=gomoku&mode=play")
    page.run("document.querySelector('.q-select').click()")
    until(lambda: page.count(".q-menu .q-item"))
    until(lambda: opaque(page, ".q-menu"))
    assert faults(browser) == []


@needs_axe
def test_a_fault_is_found(browser, address):
    page = opened(browser, address, "&game=tictactoe&mode=play")
    page.run("document.querySelector('.tools').insertAdjacentHTML('beforeend', '<button></button><img src=\"\">')")
    assert {wrong.split(":")[0] for wrong in faults(browser)} >= {"button-name", "image-alt"}


def walk(page, found, key="\ue004", most=120):
    """Press Tab until what has the focus is what is looked for."""
    keys = webdriver.ActionChains(page.browser)
    for _ in range(most):
        if page.run(f"const e = document.activeElement; return Boolean({found})"):
            return
        keys.send_keys(key).perform()
    pytest.fail(f"the keyboard does not reach {found}")


def test_a_whole_game_the_games_and_the_training_by_keyboard_alone(browser, address):
    page = opened(browser, address, f"&game=tictactoe&mode=play&first={PERSON}&second={PERSON}")
    keys = webdriver.ActionChains(browser)
    walk(page, "e.classList.contains('stage')")
    keys.send_keys("\ue012").perform()  # the first key shows the cursor, in the middle
    place = 4
    for count, point in enumerate((4, 0, 5, 3, 1, 7, 2, 6, 8), 1):
        while place != point:
            step = "\ue015\ue014\ue012\ue013"  # down, right, left, up
            row, column = place // 3, place % 3
            to_row, to_column = divmod(point, 3)
            move = 0 if row < to_row else 3 if row > to_row else 1 if column < to_column else 2
            place += (3, 1, -1, -3)[move]
            keys.send_keys(step[move]).perform()
        keys.send_keys("\ue007").perform()
        until(lambda: page.moves == count or page.count(".stage [data-over]"))  # noqa: B023
        if page.count(".stage [data-over]"):
            break
    assert page.moves >= 5 and page.count(".stage .stone") == page.moves
    for name, there in (("Games", ".sheet"), ("Training", ".learn")):
        walk(page, "e.classList.contains('q-tab')", key="\ue004")
        for _ in range(len(VIEWS)):
            if page.run("return document.activeElement.innerText").strip() == name:
                break
            keys.send_keys("\ue014").perform()
        keys.send_keys("\ue007").perform()
        until(lambda: any(e.is_displayed() for e in page.all(there)))  # noqa: B023
        until(lambda: page.run("return document.querySelector('.q-tab--active').innerText").strip() == name)  # noqa: B023
