"""The exported engine in Node against the program: positions of every game that ships, set-up positions, random games,
choices. In Firefox the engine finds in the first of these positions what it finds in Node."""

import functools
import hashlib
import json
import shutil
import subprocess
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import games
from config import UserError
from network.architecture import residual_network
from network.numpy_network import evaluate, outputs
from network.ownership import HEAD, expected_owners
from players.by_name import network_player
from players.tempered import draw_odds, winning_move
from plugins.browser.player import page_parts
from plugins.browser.site import shipped_games
from search.branches import branches
from search.expand import legal_softmax
from search.many_trees import ManyTrees
from support.firefox import Firefox, needs_firefox

HERE = Path(__file__).parent.parent
POSITIONS, ON_LARGE_BOARDS, SIMS, GAMES = 20, 10, 40, 200
"""On boards of more than 100 points fewer positions are searched: the network values each of their moves."""
SETUPS, SEARCHED = 30, 5
"""Positions that are set up, and how many of them are searched."""
FEW = 6
"""Searches that browsers repeat, the first ones: what the engine has seen before has to be the same."""
DRAWS = {"sims": 40, "temperature": 1.5, "count": 300}
WORKER = """
import { createEngine } from "./engine.mjs";
import { searched } from "./searched.mjs";
const read = (name) => fetch(name).then((file) => file.arrayBuffer()).then((bytes) => new Uint8Array(bytes));
const json = (name) => fetch(name).then((file) => file.json());
const digest = async (parts) => {
  const bytes = await crypto.subtle.digest("SHA-256", await new Blob(parts).arrayBuffer());
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
};
try {
  const [wasm, weights] = await Promise.all(["all.wasm", "weights.bin"].map(read));
  const [layout, few] = await Promise.all(["layout.json", "few.json"].map(json));
  const { found, planes, answers } = searched(await createEngine({ wasm, weights, layout, facts: {} }), few);
  postMessage({ found, evaluations: planes.length, digests: await Promise.all([planes, answers].map(digest)) });
} catch (error) {
  postMessage({ failed: String(error) });
}
"""
IN_WORKER = """
return new Promise((done, wrong) => {
  const worker = new Worker("worker.mjs", { type: "module" });
  worker.onmessage = ({ data }) => (worker.terminate(), data.failed ? wrong(new Error(data.failed)) : done(data));
  worker.onerror = ({ message }) => wrong(new Error(message));
});
"""


pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs node")


def random_line(game, rng, most):
    """Return the moves of a random position that is not over, and the position."""
    state, moves = game.start(), []
    for _ in range(int(rng.integers(0, most))):
        action = int(rng.choice(state.allowedActions))
        after = state.takeAction(action)[0]
        if after.isEndGame:
            break
        state, moves = after, [*moves, action]
    return moves, state


def known_answers(planes, answers):
    """Return a predictor that answers as the engine's network did."""
    known = {each.tobytes(): answer for each, answer in zip(planes, answers, strict=True)}

    def answer(planes):
        found = np.array([known[each.tobytes()] for each in planes.reshape(len(planes), -1)])
        return found[:, 0], found[:, 1:]

    return answer


def set_up(game, rng):
    """Return random stones, the side to move, and the position, None where the rules refuse it or it is over."""
    board = np.where(rng.random(game.grid_shape) < rng.random() ** 2, rng.choice([1, -1], game.grid_shape), 0)
    player = int(rng.choice([1, -1]))
    try:
        state = game.set_up(board, player)
    except UserError:
        state = None
    return board, player, None if state is None or state.isEndGame else state


class Played:
    """What the engine did with a game's player."""

    def __init__(self, spec, folder):
        self.game = games.make(spec)
        self.data = page_parts("shipped", self.game)
        (folder / "all.wasm").write_bytes(self.data.wasm)
        (folder / "weights.bin").write_bytes(self.data.weights)
        (folder / "layout.json").write_text(json.dumps(self.data.layout))
        rng = np.random.default_rng(1)
        most = max(2, int(np.prod(self.game.grid_shape) * 0.8))
        positions = POSITIONS if np.prod(self.game.grid_shape) <= 100 else ON_LARGE_BOARDS
        self.lines = [random_line(self.game, rng, most) for _ in range(positions)]
        self.setups = [set_up(self.game, rng) for _ in range(SETUPS)]
        stones = [{"cells": board.ravel().tolist(), "player": player} for board, player, _ in self.setups]
        begun = [one for one, (_, _, state) in zip(stones, self.setups, strict=True) if state is not None][:SEARCHED]
        draws = {**DRAWS, "moves": self.lines[0][0][:2]}
        cases = {
            "searches": [
                *({"moves": moves, "sims": SIMS} for moves, _ in self.lines),
                *({"moves": [], "sims": SIMS, "setup": setup} for setup in begun),
            ],
            "setups": stones,
            "games": GAMES,
            "seldom": 200 if np.prod(self.game.grid_shape) <= 64 else 1000,
            "draws": draws,
        }
        (folder / "cases.json").write_text(json.dumps(cases))
        (folder / "few.json").write_text(json.dumps(cases["searches"][:FEW]))
        (folder / "engine.mjs").write_text((HERE.parent / "engine.js").read_text())
        (folder / "searched.mjs").write_text((HERE / "searched.mjs").read_text())
        (folder / "worker.mjs").write_text(WORKER)
        (folder / "index.html").write_text("<!doctype html><title>worker</title>")
        command = ["node", str(HERE / "searches.mjs"), str(folder), str(folder / "engine.mjs")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr[-2000:]
        self.folder, self.found = folder, json.loads((folder / "found.json").read_text())
        self.draws = draws
        width = int(np.prod(self.game.input_shape))
        self.planes = np.fromfile(folder / "planes.bin", np.uint8).reshape(-1, width)
        self.answers = np.fromfile(folder / "answers.bin", np.float32).reshape(-1, self.game.action_size + 1)


@pytest.fixture(scope="module", params=shipped_games())
def played(request, tmp_path_factory):
    return Played(request.param, tmp_path_factory.mktemp("engine"))


def test_the_visits_are_those_of_the_program(played):
    agent = network_player(played.game, 0, "best")
    tree = ManyTrees(played.game, agent.search, sims=played.data.layout["sims"])
    begun = [state for _, _, state in played.setups if state is not None][:SEARCHED]
    states, deep = [*(state for _, state in played.lines), *begun], 0
    for state, found in zip(states, played.found["searches"], strict=True):
        tree.plant(state)
        tree.search(known_answers(played.planes, played.answers), SIMS)
        assert found["opinion"]["visits"] == tree.visit_counts().tolist()
        assert found["opinion"]["value"] == pytest.approx(tree.root_value(), abs=1e-12)
        shown, drawn = found["opinion"]["tree"], branches(tree.forest)
        assert [row[:3] for row in shown] == [list(row[:3]) for row in drawn], "the same tree"
        assert np.allclose([row[3:] for row in shown], [row[3:] for row in drawn], atol=1e-6)
        deep += any(row[0] >= 0 for row in shown)
    assert deep >= len(played.lines) / 5


@pytest.fixture(scope="module", params=[pytest.param("firefox", marks=needs_firefox)])
def firefox():
    driver = Firefox()
    yield driver
    driver.quit()


def test_firefox_finds_what_node_finds(played, firefox):
    """Chromium computes with Node's engine; test_browsers.py has searches of its page."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=played.folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            firefox.get(f"http://127.0.0.1:{server.server_port}/index.html")
            found = firefox.execute_script(IN_WORKER)
        finally:
            server.shutdown()
    few = played.found["searches"][:FEW]
    assert found["found"] == few and found["evaluations"] >= FEW
    evaluated = (array[: found["evaluations"]].tobytes() for array in (played.planes, played.answers))
    assert found["digests"] == [hashlib.sha256(each).hexdigest() for each in evaluated]


def test_what_is_set_up_is_as_the_rules_have_it(played):
    for (_, _, state), found in zip(played.setups, played.found["setups"], strict=True):
        assert (found is None) == (state is None)
        if found:
            assert found["legal"] == state.allowedActions
            assert found["planes"] == state.planes().ravel().tolist()
    refused = played.found["setups"].count(None)
    assert 0 < refused < SETUPS if played.game.arranged else refused == SETUPS


def test_the_networks_own_value_of_each_move_is_that_of_the_position_after_it(played):
    known = {each.tobytes(): answer[0] for each, answer in zip(played.planes, played.answers, strict=True)}
    checked = 0
    for (_, state), found in zip(played.lines, played.found["searches"], strict=False):
        for action, own in enumerate(found["opinion"]["v"]):
            visits, proof = (found["opinion"][key][action] for key in ("visits", "proven"))
            assert own is None or visits or proof is not None
            if own is not None and proof is None:
                after = state.takeAction(action)[0]
                if (value := known.get(after.planes().tobytes())) is not None:  # else the visits pass through it
                    assert own == pytest.approx(value if after.playerTurn == state.playerTurn else -value, abs=1e-6)
                    checked += 1
    assert checked >= 0.8 * len(played.lines)


def test_positions_are_shown_as_they_are(played):
    for (moves, state), found in zip(played.lines, played.found["searches"], strict=False):
        shown = found["position"]
        assert found["legal"] and shown["legal"] == state.allowedActions and not shown["over"]
        assert shown["cells"] == np.array(played.game.cells(state).cells).ravel().tolist()
        assert shown["player"] == state.playerTurn and shown["last"] == (moves or [-1])[-1]
        own, other = state.score
        counted = [own, other] if state.playerTurn == 1 else [other, own]
        assert shown["score"] == (counted if played.game.counted else None)


def test_the_network_answers_as_the_program_does(played):
    """Value and logits are within 1e-3, relative to logits of more than 100; the best move is the network's."""
    pick = np.random.default_rng(0).choice(len(played.planes), min(200, len(played.planes)), replace=False)
    agent = network_player(played.game, 0, "best")
    layers, weights = residual_network(agent.model.config, played.game), agent.model.get_weights()
    planes = played.planes[pick].reshape(-1, *played.game.input_shape)
    values, logits = evaluate(layers, weights, planes)
    assert np.abs(values - played.answers[pick, 0]).max() < 1e-3
    assert np.abs(logits - played.answers[pick, 1:]).max() < 1e-3 * max(1.0, np.abs(logits).max() / 100)
    assert (logits.argmax(1) == played.answers[pick, 1:].argmax(1)).mean() >= 0.99


def test_the_network_says_who_will_own_each_point_where_it_has_learned_territory(played):
    """Within 1e-3 of the layers; the lead is what it owns more than the other and the komi."""
    agent = network_player(played.game, 0, "best")
    layers, weights = residual_network(agent.model.config, played.game), agent.model.get_weights()
    if not played.data.facts["ownership"]:
        assert not played.game.scored_by_area or HEAD not in layers.heads
        assert all(found["territory"] is None for found in played.found["searches"])
        return
    states = [state for _, state in played.lines]
    owned = expected_owners(outputs(layers, weights, np.stack([each.planes() for each in states]), (HEAD,))[0])
    for state, expected, found in zip(states, owned, played.found["searches"], strict=False):
        for_first = expected.ravel() * state.playerTurn
        assert np.abs(for_first - found["territory"]["owned"]).max() < 1e-3
        assert found["territory"]["lead"] == pytest.approx(for_first.sum() - played.game.komi, abs=0.05)


def test_random_games_end_as_they_do_here(played):
    assert len(played.found["games"]) == GAMES and played.found["grown"] == 0
    for game in played.found["games"]:
        state = played.game.start()
        for action in game["moves"]:
            state = state.takeAction(action)[0]
        assert state.isEndGame
        assert game["result"] == np.sign(state.value) * state.playerTurn
        if game["fewer"]:  # two thirds of the stones
            board = np.array(played.game.cells(state).cells)
            fewer = played.game.set_up(board * (np.arange(board.size).reshape(board.shape) % 3 > 0), 1)
            assert game["fewer"] == {"score": list(fewer.score), "owners": fewer.owners.ravel().tolist()}


def test_moves_are_drawn_with_the_odds_of_the_levels(played):
    draws, state = played.found["draws"], played.game.start()
    for action in played.draws["moves"]:
        state = state.takeAction(action)[0]
    logits, allowed = np.array(draws["logits"]), np.array(state.allowedActions)
    priors = np.zeros(played.game.action_size)
    priors[allowed] = legal_softmax(logits[allowed])
    best = np.where(priors >= np.sort(priors)[-8:].min(), priors, 0.0)
    win = winning_move(played.game, state)
    odds = draw_odds(best, DRAWS["temperature"]) if win is None else np.eye(len(best))[win]
    alike(draws["by_priors"], odds)
    anywhere = np.isin(np.arange(len(odds)), allowed) / len(allowed)
    alike(draws["with_slips"], 0.75 * odds + 0.25 * anywhere if win is None else odds)
    visits = np.array(draws["visits"], float)
    if all(each is None for each in draws["proven"]):
        alike(draws["by_visits"], draw_odds(visits, DRAWS["temperature"]))
    assert draws["undone"] == list(range(len(played.draws["moves"])))[::-1]


def alike(counts, odds):
    """Check that counts of draws are within four standard deviations of what the odds make expect."""
    expected = DRAWS["count"] * odds
    assert sum(counts) == DRAWS["count"]
    assert (np.abs(counts - expected) <= 4 * np.sqrt(expected) + 1e-9).all()


def test_the_engine_takes_little_memory(played):
    assert played.data.layout["size"] < 300 * 2**20
    assert len(played.data.wasm) < 150_000
