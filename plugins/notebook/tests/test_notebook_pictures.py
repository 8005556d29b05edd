"""The pictures and tables of a notebook, without a notebook."""

import sys
import types
import xml.etree.ElementTree as ET

import pytest

import games
from config import Config, UserError
from interface.help import setting_texts
from interface.notebook.folded import Folded, Settings
from languages import translate
from plugins.notebook.pictures import Tree, loop, network, show_tree
from support.tiny_runs import tiny
from training.presets import preset


@pytest.fixture
def agent():
    import numpy as np

    from agent import Agent

    game = games.make("connect4")
    return Agent("it", game, lambda planes: (np.zeros(len(planes)), np.zeros((len(planes), 7))), mcts_sims=50)


def texts(drawing):
    return [e.text for e in ET.fromstring(drawing._repr_svg_()).iter("{http://www.w3.org/2000/svg}text")]


def test_the_loop_and_the_network_are_drawn_in_the_language():
    assert "The loop of learning" in texts(loop()) and repr(loop()) == "<The loop of learning>"
    drawn = texts(network(preset("laptop", game="connect4"), games.make("connect4")))
    assert {"board", "6×7×3", "policy", "7 moves", "value"} <= set(drawn)
    token = translate.chosen.set("zh")
    try:
        assert translate.tr("The loop of learning") in texts(loop()) and "The loop of learning" not in texts(loop())
    finally:
        translate.chosen.reset(token)


def test_a_deep_network_is_drawn_in_short():
    game = games.make("tictactoe")
    deep = network(preset("gpu", game="tictactoe"), game)
    assert any(text.startswith("… × 11") for text in texts(deep)) and texts(deep).count("128 filters") == 3
    assert texts(network(tiny(), game)).count("8 filters") == 2


def test_a_tree_is_drawn_at_some_simulations_and_kept_at_each(agent):
    tree = show_tree(agent, agent.game.start(), 20)
    assert len(tree.frames) == 20 and [t for t in texts(tree) if t and t.startswith("after")] == [
        "after 1 simulation", "after 4 simulations", "after 16 simulations", "after 20 simulations"
    ]  # fmt: skip
    inner = [e for e in ET.fromstring(tree._repr_svg_()) if e.get("class") == "tree-picture"]
    assert len(inner) == 4
    tops = [float(e.get("y")) for e in inner]
    ends = [top + float(e.get("height")) for top, e in zip(tops, inner, strict=True)]
    assert all(end < top for end, top in zip(ends, tops[1:], strict=False)), "none covers another"


def test_a_tree_without_simulations_is_refused(agent):
    with pytest.raises(UserError, match="sims: expected at least 1, got 0"):
        show_tree(agent, agent.game.start(), 0)


def test_the_steps_of_a_tree_are_a_widget_where_there_are_widgets(agent, monkeypatch):
    tree = show_tree(agent, agent.game.start(), 5)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert tree.steps() is tree
    made = {}

    class Part:
        def __init__(self, *given, **options):
            made.setdefault(options.get("max"), []).append(self)
            self.given, self.value = given, given[0] if given else None

        def observe(self, act, name):
            self.act = act

    fake = types.SimpleNamespace(Play=Part, IntSlider=Part, HTML=Part, HBox=Part, VBox=Part, jslink=lambda *_: None)
    monkeypatch.setitem(sys.modules, "ipywidgets", fake)
    bars, picture = tree.steps().given[0]
    bars.given[0][1].act({"new": 3})
    assert picture.value == tree.frames[2] and isinstance(tree, Tree) and len(made[5]) == 2


def test_settings_are_those_that_differ():
    config = preset("tiny", episodes=77)
    found = Settings(config)
    assert found.changed["episodes"] == (Config().episodes, 77) and "game" in found.changed
    html = found._repr_html_()
    assert "<code>episodes</code>" in html and "<b>77</b>" in html and html.count("<tr>") == len(found.changed) + 1
    assert set(setting_texts()) >= set(found.changed), "each has its meaning"
    assert repr(Settings(Config())) == "no difference" and "no difference" in Settings(Config())._repr_html_()
    assert repr(Settings(config, preset("tiny"))) == f"episodes: 77 (before {preset('tiny').episodes})"


def test_a_dump_is_folded_and_escaped():
    folded = Folded("<title>", lambda: print("a < b"))
    assert folded._repr_html_() == "<details><summary>&lt;title&gt;</summary><pre>a &lt; b\n</pre></details>"
    assert repr(folded) == "a < b\n" and repr(Folded("t", "x")) == "x"
