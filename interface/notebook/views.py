"""The pictures of run.ipynb: those of a plugin if there is one, else plain text.

`from interface.notebook.views import loop` takes the plugin's `loop` (`Plugin.notebook`) or the plain one below.
"""

from __future__ import annotations

from html import escape
from typing import Any, TypeVar

from agent import Agent
from config import Config, layers
from evaluation.milestones import chosen_versions
from game import Game, GameState
from initialise import Session
from interface.explain import as_text, explain
from interface.notebook.early import EarlyVersions
from system.plugins import load, plugins

B = TypeVar("B")


def board_html(state: GameState) -> str:
    """Return a position as HTML: the plugin's drawing, else the board as text."""
    drawn = state._repr_svg_()
    return drawn if drawn is not None else f"<pre>{escape(state.render())}</pre>"


class Text:
    """Lines that a notebook shows as they are."""

    def __init__(self, *lines: str) -> None:
        self.lines = lines

    def __repr__(self) -> str:
        return "\n".join(self.lines)


def _loop() -> Text:
    """Return the loop of learning."""
    return Text("self-play -> games -> training -> a better network -> self-play")


def _network(config: Config, game: Game) -> Text:
    """Return the network of a run: the board, its layers, its two opinions."""
    body = [f"{filters} filters {size}x{size}" for filters, size in layers(config)]
    shape = "x".join(map(str, game.input_shape))
    return Text(" -> ".join([f"board {shape}", *body]), f"-> policy of {game.action_size} moves; value from -1 to +1")


def _versions(session: Session | EarlyVersions, state: GameState, most: int = 6) -> Text:
    """Return a position as versions of a run see it, without search: their value, and the moves that they prefer."""
    lines = [state.render()]
    for number in chosen_versions([row.version for row in session.store.versions()], most):
        value, policy, legal = session.agent(number, role="look", sims=1).get_preds(state)
        best = sorted(legal, key=lambda action: -policy[action])[:4]
        moves = ", ".join(f"{session.game.move_name(a)} {100 * policy[a]:.0f} %" for a in best)
        lines.append(f"version {number}: value {value:+.2f}, {moves}")
    return Text(*lines)


def _show_tree(agent: Agent, state: GameState, sims: int = 32) -> Text:
    """Return what a search of `sims` simulations thinks of a position."""
    return Text(as_text(explain(agent.twin(agent.game, sims), state), state))


def _clickable(board: B) -> B:
    """Return the board itself: it is played by calls."""
    return board


PLAIN = {
    "loop": _loop,
    "network": _network,
    "versions": _versions,
    "show_tree": _show_tree,
    "clickable": _clickable,
}


def __getattr__(name: str) -> Any:
    """Return a view by its name, the plugin's before the plain one."""
    if name not in PLAIN:
        raise AttributeError(name)
    for plugin, found in plugins().items():
        if name in found.notebook:
            return load(plugin, found.notebook[name])
    return PLAIN[name]
