"""Every player that ships in Chromium and in Firefox, opened from a disk: it plays, and searches as the program does."""

import base64
import functools
import re
from pathlib import Path

import numpy as np
import pytest

import games
from players.by_name import network_player
from plugins.browser.player import player_data
from plugins.browser.site import page_of, shipped_games
from plugins.browser.tests.outside.test_browser_page import Page
from plugins.browser.tests.outside.test_engine_in_node import known_answers, missing, random_line
from search.many_trees import ManyTrees
from support.browser import chromium, needs_browser, until
from support.firefox import Firefox, needs_firefox

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

pytestmark = [*needs_browser, pytest.mark.skipif(bool(missing(node=False)), reason=missing(node=False))]


@functools.cache
def written(spec, folder):
    """Write the page of a game's player; return (its name, visits for which the tree has room)."""
    game = games.make(spec)
    data = player_data("shipped", game)
    name = re.sub(r"\W+", "-", spec)
    (folder / f"{name}.html").write_text(page_of(game, data), encoding="utf-8")
    return name, data.layout["sims"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("players")


@pytest.fixture(scope="module", params=["chromium", pytest.param("firefox", marks=needs_firefox)])
def browser(request, folder):
    driver = chromium() if request.param == "chromium" else Firefox()
    try:
        yield driver
        if request.param == "chromium":
            assert not [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
        else:
            assert not driver.errors
            assert not [url for url in driver.asked if not re.match(f"data:|blob:|about:|{folder.as_uri()}", url)]
    finally:
        driver.quit()


@pytest.mark.parametrize("spec", shipped_games())
def test_it_plays_and_its_visits_are_those_of_the_program(browser, folder, spec):
    name, room = written(spec, folder)
    seen = Page(browser, folder, name)
    seen.click(int(np.prod(games.make(spec).grid_shape)) // 2)
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
