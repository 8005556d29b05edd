"""Pictures of a notebook: the loop of learning, a network, a growing search tree, a position as versions see it.

Each is an SVG with a ground of its own: readable on light and dark pages, also where a page shows images only.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from html import escape
from typing import Any

from agent import Agent
from config import Config, UserError, layers
from evaluation.milestones import chosen_versions
from game import Game, GameState
from initialise import Session
from interface.notebook.early import EarlyVersions
from languages.translate import tr
from plugins.pictures.board_svg import Mark, board_svg, ratio_of
from plugins.pictures.tree_svg import MOST_STEPS, Growth

BLUE, ORANGE, GREEN = "#3566a8", "#c56a0d", "#2f7d4d"
ARROW = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
    '<path d="M0 0L8 4L0 8z" fill="#59636e"/></marker></defs>'
)


class Drawing:
    """An SVG that a notebook shows as an image."""

    def __init__(self, inside: str, width: float, height: float, name: str) -> None:
        """inside: the elements of the SVG; name: for those who cannot see it."""
        self.svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
            f'height="{height:g}" role="img" aria-label="{escape(name)}" font-family="system-ui, sans-serif" '
            f'font-size="13" color="#1d2127" fill="#1d2127"><rect width="100%" height="100%" rx="8" fill="#fff"/>'
            f"{inside}</svg>"
        )
        self.name = name

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<{self.name}>"


def loop() -> Drawing:
    """Return the loop of learning: self-play, training, the network."""
    boxes = (
        (20, 70, BLUE, tr("Self-play"), (tr("the network plays itself,"), tr("each move by a search"))),
        (255, 70, ORANGE, tr("Training"), (tr("learns from those games:"), tr("result and search"))),
        (490, 70, GREEN, tr("A better network"), (tr("guesses moves and"), tr("the winner at a glance"))),
    )
    parts = [ARROW, _text(350, 28, tr("The loop of learning"), "middle", "650")]
    for x, y, colour, title, lines in boxes:
        parts.append(f'<rect x="{x}" y="{y}" width="190" height="84" rx="10" fill="{colour}" fill-opacity=".1" '
                     f'stroke="{colour}" stroke-width="1.6"/>')  # fmt: skip
        parts.append(_text(x + 95, y + 26, title, "middle", "650"))
        parts += [_text(x + 95, y + 48 + 18 * i, line, "middle") for i, line in enumerate(lines)]
    parts += [_arrow("M212 112H250"), _arrow("M447 112H485"), _arrow("M585 156C585 214 115 214 115 160")]
    parts.append(_text(231, 102, tr("games"), "middle", size=11))
    parts.append(_text(350, 220, tr("the next games are better"), "middle", size=12))
    return Drawing("".join(parts), 700, 236, tr("The loop of learning"))


def network(config: Config, game: Game) -> Drawing:
    """Return the network of a run: the board, its layers, its two opinions."""
    rows, columns, planes = game.input_shape
    found = layers(config)
    body = found[:5] if len(found) <= 6 else found[:3]
    parts, x = [ARROW, _text(20, 28, tr("The network"), "start", "650")], 20.0
    parts.append(_block(x, 92, BLUE, tr("board"), f"{rows}×{columns}×{planes}"))
    for filters, size in body:
        parts.append(_arrow(f"M{x + 92:g} 118h22"))
        x += 116
        parts.append(_block(x, 92, GREEN, tr("{count} filters", count=filters), f"{size}×{size}"))
    if len(found) > len(body):
        parts.append(_text(x + 106, 123, f"… × {len(found)}", "start", "650"))
        x += 60
    for y, title, what in ((52.0, tr("policy"), tr("{count} moves", count=game.action_size)),
                           (132.0, tr("value"), tr("-1 to +1"))):  # fmt: skip
        parts.append(_arrow(f"M{x + 92:g} 118C{x + 110:g} 118 {x + 96:g} {y + 26:g} {x + 114:g} {y + 26:g}"))
        parts.append(_block(x + 116, y, ORANGE, title, what))
    return Drawing("".join(parts), x + 226, 204, tr("The network"))


def _block(x: float, y: float, colour: str, title: str, what: str) -> str:
    frame = f'fill="{colour}" fill-opacity=".1" stroke="{colour}" stroke-width="1.6"'
    return (
        f'<rect x="{x:g}" y="{y:g}" width="92" height="52" rx="8" {frame}/>'
        + _text(x + 46, y + 22, title, "middle", "650") + _text(x + 46, y + 41, what, "middle", size=12)
    )  # fmt: skip


def _text(x: float, y: float, text: str, anchor: str, weight: str = "400", size: int = 13) -> str:
    style = f'text-anchor="{anchor}" font-weight="{weight}" font-size="{size}"'
    return f'<text x="{x:g}" y="{y:g}" {style}>{escape(text)}</text>'


def _arrow(path: str) -> str:
    return f'<path d="{path}" fill="none" stroke="#59636e" stroke-width="1.6" marker-end="url(#tip)"/>'


def _tiles(tiles: Sequence[tuple[str, str]], width: float, columns: int, name: str) -> Drawing:
    """Return drawings in rows of `columns`, each (caption, SVG) `width` wide at most."""
    parts, y = [], 10.0
    for start in range(0, len(tiles), columns):
        line, tall = tiles[start : start + columns], 0.0
        for i, (caption, svg) in enumerate(line):
            wide = min(width, _width_of(svg))
            height = wide / ratio_of(svg)
            x = 12 + i * (width + 16)
            inner = svg.replace("<svg ", f'<svg x="{x:g}" y="{y + 22:g}" ', 1)
            inner = inner.replace(f'width="{_width_of(svg):g}"', f'width="{wide:g}"', 1)
            inner = inner.replace(f'height="{_width_of(svg) / ratio_of(svg):g}"', f'height="{height:g}"', 1)
            parts.append(_text(x, y + 13, caption, "start", "650") + inner)
            tall = max(tall, height)
        y += tall + 40
    return Drawing("".join(parts), 24 + min(columns, len(tiles)) * (width + 16) - 16, y, name)


def _width_of(svg: str) -> float:
    return float(svg.split('viewBox="0 0 ', 1)[1].split(" ", 1)[0])


class Tree(Drawing):
    """A search tree at several moments; `steps()` goes through it one simulation at a time."""

    def __init__(self, frames: Sequence[str], shown: Sequence[int]) -> None:
        """frames: the picture after each simulation; shown: the simulations drawn below each other."""
        self.frames = list(frames)
        tiles = [(simulations(number), self.frames[number - 1]) for number in shown]
        drawn = _tiles(tiles, max(map(_width_of, self.frames), default=100.0), 1, tr("search tree"))
        self.svg, self.name = drawn.svg, drawn.name

    def steps(self) -> Any:
        """Return a widget with a slider and a button that plays; the pictures where ipywidgets is not installed."""
        try:
            widgets: Any = importlib.import_module("ipywidgets")
        except ImportError:
            return self
        last = len(self.frames)
        button = widgets.Play(min=1, max=last, value=1, interval=700)
        slider = widgets.IntSlider(min=1, max=last, value=1, description=tr("simulation"))
        picture = widgets.HTML(self.frames[0])
        widgets.jslink((button, "value"), (slider, "value"))
        slider.observe(lambda change: setattr(picture, "value", self.frames[change["new"] - 1]), "value")
        return widgets.VBox([widgets.HBox([button, slider]), picture])


def simulations(count: int) -> str:
    """Return a number of simulations in words."""
    return tr("after 1 simulation") if count == 1 else tr("after {count} simulations", count=count)


def show_tree(agent: Agent, state: GameState, sims: int = 32) -> Tree:
    """Return the tree of a search as it grows: at 1, 4, 16, ... and `sims` simulations, and step by step.

    The branches of the last simulation are marked. The search evaluates one position at a time, from an empty tree.
    """
    if sims < 1:
        raise UserError(f"sims: expected at least 1, got {sims}")
    growth, frames = Growth(agent, state), list[str]()
    while len(frames) < min(sims, MOST_STEPS) and not growth.over:
        frames.append(growth.picture())
    moments = sorted({*(4**k for k in range(8) if 4**k < len(frames)), len(frames)})
    return Tree(frames, moments)


def versions(session: Session | EarlyVersions, state: GameState, most: int = 6) -> Drawing:
    """Return a position as versions of a run see it, without search: the policy on the board, the value above it."""
    tiles = []
    for number in chosen_versions([row.version for row in session.store.versions()], most):
        value, policy, legal = session.agent(number, role="look", sims=1).get_preds(state)
        top = max(float(policy[a]) for a in legal) or 1.0
        marks = {int(a): Mark(float(policy[a]) / top, f"{100 * policy[a]:.0f}") for a in legal if policy[a] >= 0.01}
        caption = tr("version {number}: {value}", number=number, value=f"{value:+.2f}")
        tiles.append((caption, board_svg(state, overlay=marks)))
    return _tiles(tiles, 140.0, 3, tr("one position, version by version"))
