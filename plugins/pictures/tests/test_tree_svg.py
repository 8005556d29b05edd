"""The picture of a search tree: numbers of the search, one simulation at a time, limits, marks; nothing unescaped."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import games
from agent import Agent
from config import SearchSettings
from interface.explain import explain
from players.rollout import RolloutPlayer
from plugins.pictures.tree_svg import MOST_STEPS, Growth, counts, tree_svg

SVG = "{http://www.w3.org/2000/svg}"


def opinions(planes):
    """Return values and logits that depend on the position."""
    sums = planes.reshape(len(planes), -1).astype(np.float64) @ np.arange(1, planes[0].size + 1)
    moves = np.arange(200)
    return np.sin(sums) / 2, np.cos(sums[:, None] * (moves + 1))[:, : opinions.moves]


def agent_of(spec):
    game = games.make(spec)
    opinions.moves = game.action_size
    return Agent("it", game, opinions, SearchSettings(), mcts_sims=MOST_STEPS)


def after(game, *moves):
    state = game.start()
    for move in moves:
        state = state.takeAction(move)[0]
    return state


def read(svg):
    """Return {(depth, move): tip} of the boxes of a picture, by their first appearance."""
    found = {}
    for box in ET.fromstring(svg).iter(f"{SVG}g"):
        title = box.find(f"{SVG}title")
        if title is not None:
            found.setdefault((int(box.get("data-depth")), title.text.split(":")[0]), title.text)
    return found


def test_each_step_is_one_simulation_with_the_numbers_of_explain():
    agent = agent_of("connect4")
    state = agent.game.start()
    growth = Growth(agent, state)
    for number in range(1, 41):
        svg = growth.picture(wide=7)
        assert growth.simulations == number and not growth.over
        if number not in (1, 2, 9, 40):
            continue
        found = explain(agent.twin(agent.game, number, leaves=1), state)
        told = {m["move"]: m for m in found["moves"]}
        assert sum(m["N"] for m in told.values()) == number
        shown = {move: tip for (depth, move), tip in read(svg).items() if depth == 1}
        assert set(shown) == set(told)
        for move, tip in shown.items():
            m = told[move]
            assert tip == f"{move}: N {m['N']}, Q {m['Q'] or 0:+.3f}, P {m['P']:.3f}"


def test_the_branches_of_the_last_simulation_are_marked_from_the_root_on():
    agent = agent_of("connect4")
    growth = Growth(agent, agent.game.start())
    for _ in range(30):
        before = counts(growth._player.MCTS) if growth._player.MCTS else {}
        svg = growth.picture(depth=9, wide=7, most=200)
        grown = [key for key, visits in counts(growth._player.MCTS).items() if visits > before.get(key, 0)]
        assert svg.count('class="new"') == len(grown) >= 1
        first = {key for key in grown if key[0] == int(growth._player.MCTS.forest.nodes[0]["key"])}
        assert len(first) == 1, "one move of the root"
    assert 'class="new"' not in tree_svg(growth._player.MCTS.root)


def test_a_picture_keeps_its_limits_and_draws_the_most_visited():
    agent = agent_of("gomoku")
    root = agent.think(agent.game.start(), 150)
    for depth, wide, most in ((1, 3, 9), (2, 3, 9), (3, 4, 16), (3, 2, 30)):
        svg = tree_svg(root, depth=depth, wide=wide, most=most)
        boxes = [int(d) for d in re.findall(r'data-depth="(\d)"', svg)]
        assert max(boxes) <= depth and len(boxes) <= most and boxes.count(1) == wide
    by_visits = sorted((edge.stats["N"] for _, edge in root.edges), reverse=True)[:4]
    shown = [float(re.search(r"N (\d+)", tip)[1]) for (d, _), tip in read(tree_svg(root)).items() if d == 1]
    assert sorted(shown, reverse=True) == by_visits


def test_a_branch_is_the_wider_the_more_it_was_visited_and_coloured_for_the_root():
    agent = agent_of("connect4")
    root = agent.think(agent.game.start(), 100)
    svg = tree_svg(root, depth=1, wide=7)
    widths = [float(w) for w in re.findall(r'class="branch"[^>]*stroke-width="([0-9.]+)"', svg)]
    visits = sorted((edge.stats["N"] for _, edge in root.edges if edge.stats["N"]), reverse=True)
    assert widths == [round(1 + 7 * (n / 100) ** 0.5, 1) for n in visits]
    state = after(games.make("tictactoe"), 0, 3, 1, 4)  # X wins at 2, else O at 5
    other = agent_of("tictactoe")
    svg = tree_svg(other.think(state, 50), depth=2, wide=9, most=40)
    strokes = re.findall(r'rx="7" [^>]*stroke="(#\w{6})"', svg)
    colours = dict(zip(re.findall(r"<title>(\w\d): N", svg), strokes, strict=False))
    assert colours["c3"] == "#2ba36b", "a proven win is green"


def test_a_proven_position_ends_the_growth():
    agent = agent_of("tictactoe")
    growth = Growth(agent, after(agent.game, 0, 3, 1, 4))
    first = growth.picture()
    assert growth.over and growth.simulations <= 1
    assert read(growth.picture()) == read(first), "nothing more comes"


def test_rollouts_grow_a_tree_as_well():
    game = games.make("tictactoe")
    player = RolloutPlayer(game, sims=MOST_STEPS)
    player.new_game(0, 0)
    growth = Growth(player, game.start())
    for number in (1, 2, 3):
        assert f"N {number}</text>" in growth.picture() and growth.simulations == number
    assert growth.step(7).visits == 10


def test_names_of_moves_are_escaped(monkeypatch):
    agent = agent_of("tictactoe")
    monkeypatch.setattr(type(agent.game), "move_name", lambda self, action: f"<b>&{action}", raising=False)
    svg = tree_svg(agent.think(agent.game.start(), 20))
    assert "<b>" not in svg and "&lt;b&gt;&amp;" in svg
    ET.fromstring(svg)


def test_a_tree_that_was_not_searched_yet_is_its_root():
    agent = agent_of("tictactoe")
    agent.buildMCTS(agent.game.start())
    assert read(tree_svg(agent.MCTS.root)) == {} and "N 0</text>" in tree_svg(agent.MCTS.root)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_picture_is_named_in_the_language(monkeypatch, language):
    from languages import translate

    token = translate.chosen.set(language)
    try:
        agent = agent_of("tictactoe")
        name = ET.fromstring(tree_svg(agent.think(agent.game.start(), 5))).get("aria-label")
    finally:
        translate.chosen.reset(token)
    assert ("search tree" in name) == (language == "en")
