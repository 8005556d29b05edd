"""A game of each kind of board in Chromium and in Firefox, opened from a disk: it plays, and searches as the program.

Random games are played on the page in Chromium; 200 of each game are played in Node (test_engine_in_node.py).
"""

import base64
import functools
import re
from pathlib import Path

import numpy as np
import pytest

import games
from players.by_name import network_player
from plugins.browser.assemble import one_file
from plugins.browser.player import page_parts
from plugins.browser.site import shipped_games
from plugins.browser.tests.outside.test_browser_page import Page
from plugins.browser.tests.outside.test_engine_in_node import known_answers, random_line
from search.many_trees import ManyTrees
from support.browser import PATIENCE, chromium, needs_browser, until
from support.firefox import Firefox, needs_firefox

GAMES = "connect4", "go(komi=7,size=9)", "gomoku(size=15)", "hex(size=13)", "othello", "tictactoe"
"""A game of each kind of board and network; test_engine_in_node.py has all that ship."""
IN_FIREFOX = "connect4", "hex(size=13)"
"""Those whose page Firefox plays as well; its searches of all games are in test_engine_in_node.py."""
SEARCHED = Path(__file__).parent.parent / "searched.mjs"
POSITIONS, SIMS = 6, 50
WORKER = """
onmessage = async ({ data: [player, searches] }) => {
  try {
    const { found, planes, answers } = searched(await createEngine(player), searches);
    postMessage({ found, planes, answers });
  } catch (error) {
    postMessage({ failed: String(error) });
  }
};
"""
RUN = """
const [script, searches] = arguments;
const text = (name) => document.getElementById(name).textContent;
const unpacked = async (name) => {
  const packed = Uint8Array.from(atob(text(name)), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};
const whole = async (parts) => {
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  let letters = "";
  for (let i = 0; i < bytes.length; i += 4096) letters += String.fromCharCode(...bytes.subarray(i, i + 4096));
  return btoa(letters);
};
return (async () => {
  const [engine, wasm, weights] = await Promise.all(["engine", "wasm", "weights"].map(unpacked));
  const source = new TextDecoder().decode(engine) + script;
  const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  const [layout, facts] = ["layout", "facts"].map((name) => JSON.parse(text(name)));
  const { found, planes, answers, failed } = await new Promise((done, wrong) => {
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = ({ message }) => wrong(new Error(message));
    worker.postMessage([{ wasm, weights, layout, facts }, searches]);
  });
  worker.terminate();
  if (failed) throw new Error(failed);
  return { found, planes: await whole(planes), answers: await whole(answers) };
})();
"""
"""Searches in a worker of the page, with the engine and the player that lie in it."""

PLAY = """
const [games, seed] = arguments;
const later = (window.later ??= setTimeout);
window.setTimeout = (what, wait) => later(what, wait / 50); // else the machine takes its time
if (!window.faults) {
  window.faults = [];
  addEventListener("error", ({ message }) => faults.push(message));
  addEventListener("unhandledrejection", ({ reason }) => faults.push(String(reason)));
}
let word = seed;
const random = (count) => ((word = (Math.imul(word, 1103515245) + 12345) & 0x7fffffff) >> 8) % count;
const all = (css) => [...document.querySelectorAll(css)];
const rest = () => new Promise((go) => later(go, 2));
return (async () => {
  for (let i = 0; i < games && !faults.length; i++) {
    while (!all("p.result").length && !faults.length) {
      const moves = [...all(".stage .point.free"), ...all(".others button")];
      const count = all(".moves button").length;
      if (moves.length) {
        moves[random(moves.length)].dispatchEvent(new MouseEvent("click", { bubbles: true }));
        while (all(".moves button").length === count && !all("p.result").length && !faults.length) {
          // a pass that ends the game, and the count after it
          all("dialog[open] .answers .main, .others .main:not(:disabled)")[0]?.click();
          await rest();
        }
      } else await rest();
    }
    all(".result .button.main")[0]?.click(); // a rematch
    while (all("p.result").length) await rest();
  }
  return faults;
})();
"""
"""Random games on the page to their ends; each is followed by a rematch."""

pytestmark = needs_browser


@functools.cache
def written(spec, folder):
    """Write the page of a game's player; return (its name, visits for which the tree has room)."""
    game = games.make(spec)
    data = page_parts("shipped", game)
    name = re.sub(r"\W+", "-", spec)
    (folder / f"{name}.html").write_text(one_file(data), encoding="utf-8")
    return name, data.layout["sims"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("players")


@pytest.fixture(scope="module", params=["chromium", pytest.param("firefox", marks=needs_firefox)])
def browser(request, folder):
    driver = chromium() if request.param == "chromium" else Firefox()
    try:
        if request.param == "chromium":
            driver.set_script_timeout(PATIENCE)
        yield driver
        if request.param == "chromium":
            assert not [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
        else:
            assert not driver.errors
            assert not [url for url in driver.asked if not re.match(f"data:|blob:|about:|{folder.as_uri()}", url)]
    finally:
        driver.quit()


@pytest.mark.parametrize(
    ("browser", "spec"),
    [
        *(("chromium", spec) for spec in GAMES),
        *(pytest.param("firefox", spec, marks=needs_firefox) for spec in IN_FIREFOX),
    ],
    indirect=["browser"],
)
def test_it_plays_and_its_visits_are_those_of_the_program(browser, folder, spec):
    name, room = written(spec, folder)
    seen = Page(browser, folder, name)
    seen.run("document.querySelector('.stage .point.free').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    until(lambda: len(seen.moves) == 2)
    seen.press("Analyse")
    until(lambda: seen.count(".found tbody tr"))
    seen.press("Play")

    game, rng = games.make(spec), np.random.default_rng(2)
    lines = [random_line(game, rng, max(2, int(np.prod(game.grid_shape) * 0.8))) for _ in range(POSITIONS)]
    script = SEARCHED.read_text(encoding="utf-8").replace("export ", "") + WORKER
    searches = [{"moves": moves, "sims": SIMS} for moves, _ in lines]
    done = seen.run(RUN, script, searches)
    planes = np.frombuffer(base64.b64decode(done["planes"]), np.uint8).reshape(-1, int(np.prod(game.input_shape)))
    answers = np.frombuffer(base64.b64decode(done["answers"]), np.float32).reshape(-1, game.action_size + 1)
    agent = network_player(game, 0, "best")
    for (_, state), found in zip(lines, done["found"], strict=True):
        tree = ManyTrees(game, agent.search, sims=room)
        tree.plant(state)
        tree.search(known_answers(planes, answers), SIMS)
        assert found["opinion"]["visits"] == tree.visit_counts().tolist()
        assert found["opinion"]["value"] == pytest.approx(tree.root_value(), abs=1e-12)


def test_these_games_are_of_those_that_ship():
    assert set(GAMES) <= set(shipped_games())


only_chromium = pytest.mark.parametrize("browser", ["chromium"], indirect=True)
"""For what asks Chromium's tools for developers."""


@only_chromium
@pytest.mark.parametrize("spec", GAMES)
def test_random_games_on_the_page_end_without_an_error(browser, folder, spec):
    large = np.prod(games.make(spec).grid_shape) > 64
    for seed, opponent in enumerate(("Beginner",) if large else ("A friend", "Beginner")):
        seen = Page(browser, folder, written(spec, folder)[0])
        seen.press(opponent)
        assert seen.run(PLAY, 1, seed) == []


@only_chromium
def test_a_page_of_many_games_does_not_grow(browser, folder):
    seen = Page(browser, folder, written("connect4", folder)[0])
    seen.press("A friend")
    assert seen.run(PLAY, 10, 1) == []
    before = held(browser)
    assert seen.run(PLAY, 20, 2) == []
    after = held(browser)
    assert after["Nodes"] <= before["Nodes"] + 50 and after["JSEventListeners"] <= before["JSEventListeners"] + 10
    assert after["JSHeapUsedSize"] < before["JSHeapUsedSize"] + 200_000, "10 kB a game"


def held(browser):
    """Return what the page holds after a collection of what nothing uses."""
    browser.execute_cdp_cmd("Performance.enable", {})
    for _ in range(2):
        browser.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return {each["name"]: each["value"] for each in browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}


@only_chromium
def test_gomoku_on_15x15_takes_less_than_400_mb(browser, folder):
    psutil = pytest.importorskip("psutil", reason="needs psutil")
    name, _ = written("gomoku(size=15)", folder)
    seen = Page(browser, folder, name, "#moves=h8.h9.i9&view=analyse")
    until(lambda: seen.count("[data-key=deepen]"))
    seen.press("Deepen")
    until(lambda: "1,600 simulations" in seen.text(".analysis p"))
    pages = [
        each
        for each in psutil.Process(browser.service.process.pid).children(recursive=True)
        if "--type=renderer" in each.cmdline()
    ]
    assert 50e6 < max(each.memory_info().rss for each in pages) < 400e6
