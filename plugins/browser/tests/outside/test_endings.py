"""The page's search for the end agrees with BitBully in every value that it finds, and finds all late in the game."""

import json
import random
import shutil
import subprocess

import pytest

import games
from plugins.browser.game_facts import game_facts, page_file
from plugins.browser.tests.scripts import answer

bitbully = pytest.importorskip("bitbully", reason="needs bitbully")
pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs node")
SCRIPT = """
globalThis.postMessage = () => {};
const { positions, source } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const solve = eval(`(${source})`)({ rows: 6, columns: 7, winningLine: 4, byColumns: true, points: [] });
console.log(JSON.stringify(positions.map((one) => solve({ id: 1, seconds: one.seconds, ...one }).values)));
"""


def position(rng, plies, solver):
    """Return (cells, the side to move, {column: plies to the end, negative for a loss}) of a random game."""
    while True:
        board, cells, height, side, won = bitbully.Board(), [0] * 42, [0] * 7, 1, False
        for _ in range(plies):
            column = rng.choice([c for c in range(7) if height[c] < 6])
            board.play(column)
            cells[(5 - height[column]) * 7 + column] = side
            height[column] += 1
            side, won = -side, won or board.has_win()
        if not won:
            left = 42 - plies
            scores = solver.score_all_moves(board)
            found = {c: 2 * ((left + 1) // 2 - s) + 1 if s > 0 else -2 * (left // 2 + s + 1) for c, s in scores.items()}
            return cells, side, {c: plies if scores[c] else 0 for c, plies in found.items()}


def test_moves_to_the_end_are_those_of_a_solver():
    rng, solver = random.Random(3), bitbully.BitBully()
    known = [position(rng, plies, solver) for plies in (12, 14, 16, 18) for _ in range(3)]
    late = [position(rng, plies, solver) for plies in (30, 32, 34) for _ in range(4)]
    positions = [{"board": c, "player": side, "seconds": 0.3} for c, side, _ in known]
    positions += [{"board": c, "player": side, "seconds": 60} for c, side, _ in late]
    source = page_file("endings.js")
    source = source[source.index("function endingsWorker") : source.index("const endings = {")]
    given = json.dumps({"positions": positions, "source": source})
    run = subprocess.run(["node", "-e", SCRIPT], input=given, capture_output=True, text=True, timeout=600, check=True)
    answers = [{int(column): plies for column, plies in one.items()} for one in json.loads(run.stdout)]
    for (_, _, right), found in zip(known + late, answers, strict=True):
        assert found.items() <= right.items()
    assert sum(map(len, answers[: len(known)])) > 10, "some are found in a third of a second"
    assert answers[len(known) :] == [right for _, _, right in late]


WORKERS = """const keyOf = (moves) => moves.join(" "), MOST_FOUND = 400, showAnalysis = () => {}, workers = [];
class Worker {
  constructor() { workers.push(this); }
  postMessage() {}
  terminate() {}
}"""
STEPS = """(() => {
  const position = { cells: [], player: 1, over: false };
  const found = [];
  const says = (values, done) => workers.at(-1).onmessage({ data: { id: "3", values, done } });
  const asks = (...moves) => {
    endings.ask(position, moves);
    found.push([workers.length, endings.of("3")]);
  };
  asks(3);
  says({ 1: 5 }, false);
  asks(3, 4);
  asks(3);
  says({}, false);
  asks(3);
  says({ 1: 5, 2: -8 }, true);
  asks(3);
  return found;
})()"""


def test_a_position_that_was_passed_by_is_searched_again_until_its_search_has_ended():
    scripts, facts = ("words.js", "grid.js", "endings.js"), game_facts(games.make("connect4"))
    found = answer(scripts, facts, None, STEPS, before=WORKERS)
    workers, values = zip(*found, strict=True)
    assert workers == (1, 2, 3, 3, 3), "one for each search that begins"
    assert values == ({}, {"1": 5}, {"1": 5}, {"1": 5}, {"1": 5, "2": -8}), "what is known stays known"
