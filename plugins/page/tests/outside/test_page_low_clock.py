"""A clock with little time in a real browser: its sign, and its sound, which is off at first."""

from plugins.page.tests.browser_page import Page, needs_page
from support.browser import until

pytestmark = needs_page


def test_little_time_is_seen_and_heard_once_where_sounds_are_on(browser, address):
    more = "&moves=44&mode=analyse&first=you&second=random&clock=1%2B0,"  # in Analyse the clocks stand
    page = Page(browser, address, f"&game=connect4{more}10.0,9.0")
    until(lambda: page.text(".clock") == "0:10 9.0")
    assert page.run("return [...document.querySelectorAll('.clock.low')].map(e => e.innerText)") == ["9.0"]
    listen = """window.heard = []; boardSounds.tone = (...tone) => heard.push(tone[0]);
        for (const side of ["1", "-1"]) warned[side] = false; return boardSounds.on"""
    for sounds, tones in (("off", 0), ("on", 3)):
        page = Page(browser, address, f"&game=connect4{more}9.0,9.0")
        until(lambda: page.count(".clock.low") == 2)  # noqa: B023
        page.run("localStorage.setItem('sounds', arguments[0])", sounds)
        assert page.run(listen) == (sounds == "on")
        until(lambda: page.run("return warned['1'] && warned['-1']"))  # noqa: B023
        browser.execute_async_script("setTimeout(arguments[0], 500)")
        assert page.run("return heard.length") == tones, "one sound of three tones, for the person"
    page.run("localStorage.removeItem('sounds')")


def test_a_clock_with_increment_outlives_a_reload(browser, address):
    page = Page(browser, address, "&game=connect4&moves=44&mode=analyse&first=you&second=random&clock=5%2B3,200.0,8.4")
    until(lambda: page.text(".clock") == "3:20 8.4")
    browser.refresh()
    until(lambda: page.text(".clock") == "3:20 8.4" and page.moves == 2)
