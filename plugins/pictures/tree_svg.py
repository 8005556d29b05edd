"""The search tree as a picture, from the root at the left: `tree_svg(root)`; and `Growth`, a simulation at a time.

A box is a move: its name, N and Q for the player who makes it, in a dot the side. The width of its branch is its share
of the visits, the colour its value for the player to move at the root: green is good, red is bad.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import NamedTuple

from agent import Agent
from game import Game, GameState
from languages.translate import tr
from MCTS import MCTS, Edge, Node
from players.rollout import RolloutPlayer
from plugins.pictures.board_svg import LOOKS

WIDTH, HEIGHT, GAP, COLUMN = 92.0, 34.0, 6.0, 128.0
"""Of a box; between two boxes; from one ply to the next."""
MOST_STEPS = 200
"""Simulations of a `Growth` at most."""
Counts = Mapping[tuple[int, int], int]
"""{(key of a node, action): N}"""


class _Box(NamedTuple):
    """A move that is drawn."""

    edge: Edge
    stats: dict[str, float]
    depth: int
    below: list[_Box]


def tree_svg(root: Node, *, depth: int = 3, wide: int = 4, most: int = 16, before: Counts | None = None) -> str:
    """Return a search tree as an SVG.

    depth: plies; wide: moves of a node, the most visited; most: moves in all, chosen by visits. Moves of the root that
    were not visited yet fill its places, in order of P. before: `counts` of an earlier time; branches that were visited
    since are marked.
    """
    boxes = _chosen(root, depth, wide, most)
    places: list[float] = []
    middle, parts = _draw(root, boxes, places, before)
    height = max(len(places), 1) * (HEIGHT + GAP) + GAP
    width = WIDTH + COLUMN * max((box.depth for box in _all(boxes)), default=0) + 8
    effort = tr("{count} simulations", count=root.visits)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tree-picture" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-label="{escape(tr("search tree"))}, {escape(effort)}" '
        'font-family="system-ui, sans-serif" font-size="11" fill="currentColor">'
        f"{parts}{_root_box(root, middle)}</svg>"
    )


def _chosen(root: Node, depth: int, wide: int, most: int) -> list[_Box]:
    """Return the moves to draw, those of each node by N: of all candidates the most visited comes first."""
    found = _moves(root, 1, wide, unvisited=True)
    candidates, room = list(found), most - len(found)
    while candidates and room > 0:
        box = max(candidates, key=lambda b: b.stats["N"])
        candidates.remove(box)
        child = box.edge.outNode
        if child is None or box.depth == depth:
            continue
        box.below.extend(_moves(child, box.depth + 1, wide)[:room])
        candidates += box.below
        room -= len(box.below)
    return found


def _moves(node: Node, depth: int, wide: int, *, unvisited: bool = False) -> list[_Box]:
    boxes = [_Box(edge, edge.stats, depth, []) for _, edge in node.edges]
    boxes = [box for box in boxes if box.stats["N"] or unvisited]
    return sorted(boxes, key=lambda b: (-b.stats["N"], -b.stats["P"]))[:wide]


def _all(boxes: list[_Box]) -> list[_Box]:
    return [found for box in boxes for found in (box, *_all(box.below))]


def _draw(node: Node, boxes: list[_Box], places: list[float], before: Counts | None) -> tuple[float, str]:
    """Return (y of the middle of a node's box, the drawing of all to its right); `places`: of the boxes without any."""
    if not boxes:
        places.append(GAP + (HEIGHT + GAP) * len(places))
        return places[-1] + HEIGHT / 2, ""
    parts, middles = [], []
    for box in boxes:
        middle, below = _draw(node, box.below, places, before)
        middles.append(middle)
        parts.append(below)
    y = (middles[0] + middles[-1]) / 2
    branches = "".join(_branch(box, y, middle, before) for box, middle in zip(boxes, middles, strict=True))
    shown = "".join(_box(box, middle) for box, middle in zip(boxes, middles, strict=True))
    return y, branches + "".join(parts) + shown


def _branch(box: _Box, y0: float, y1: float, before: Counts | None) -> str:
    x0, x1 = 4 + COLUMN * (box.depth - 1) + WIDTH, 4 + COLUMN * box.depth
    visits, total = box.stats["N"], max(box.edge.mcts.root.visits, 1)
    bend = (x0 + x1) / 2
    path = f"M{x0:g} {y0:.1f}C{bend:g} {y0:.1f} {bend:g} {y1:.1f} {x1:g} {y1:.1f}"
    if not visits:
        return f'<path d="{path}" fill="none" stroke="currentColor" opacity=".3" stroke-dasharray="3 3"/>'
    width = 1 + 7 * (visits / total) ** 0.5
    line = f'<path class="branch" d="{path}" fill="none" stroke="{_colour(box)}" stroke-width="{width:.1f}"/>'
    if before is not None and visits > before.get(_key(box.edge), 0):
        glow = f'fill="none" stroke="#2f6fc4" stroke-opacity=".35" stroke-width="{width + 8:.1f}" '
        line = f'<path class="new" d="{path}" {glow}/>{line}'
    return line


def _box(box: _Box, middle: float) -> str:
    x, y, s, game = 4 + COLUMN * box.depth, middle - HEIGHT / 2, box.stats, box.edge.mcts.game
    name = game.move_name(box.edge.action)
    tip = f"{name}: N {s['N']:.0f}, Q {s['Q']:+.3f}, P {s['P']:.3f}"
    words = f"Q {s['Q']:+.2f}" if s["N"] else f"P {s['P']:.2f}"
    unvisited = 'stroke="currentColor" stroke-opacity=".35" stroke-dasharray="3 3"'
    style = f'stroke="{_colour(box)}"' if s["N"] else unvisited
    proven = {1.0: " ✓", -1.0: " ✗", 0.0: " ="}.get(box.edge.proven, "") if box.edge.proven is not None else ""
    return (
        f'<g class="box" data-depth="{box.depth}"><title>{escape(tip)}</title>{_frame(x, y, style)}'
        f"{_dot(game, box.edge.playerTurn, x + 12, y + 12)}"
        f'<text x="{x + 22:g}" y="{y + 15:.1f}" font-weight="650">{escape(name[:8])}{proven}</text>'
        f'<text x="{x + WIDTH - 7:g}" y="{y + 15:.1f}" text-anchor="end">{s["N"]:.0f}</text>'
        f'<text x="{x + 22:g}" y="{y + 28:.1f}" opacity=".8">{words}</text></g>'
    )


def _root_box(root: Node, middle: float) -> str:
    y = middle - HEIGHT / 2
    frame = _frame(4, y, 'stroke="currentColor" stroke-opacity=".6"')
    return (
        f'<g class="box root">{frame}'
        f"{_dot(root.mcts.game, root.playerTurn, 16, y + 12)}"
        f'<text x="26" y="{y + 15:.1f}" font-weight="650">N {root.visits}</text>'
        f'<text x="26" y="{y + 28:.1f}" opacity=".8">Q {root.Q:+.2f}</text></g>'
    )


def _frame(x: float, y: float, style: str) -> str:
    """Return a box with a ground of its own, whatever lies behind it."""
    size = f'x="{x:g}" y="{y:.1f}" width="{WIDTH:g}" height="{HEIGHT:g}" rx="7"'
    return f'<rect {size} class="ground" fill="#808890" fill-opacity=".14" {style} stroke-width="1.5"/>'


def _dot(game: Game, player: int, x: float, y: float) -> str:
    fill, edge = LOOKS[game.look].sides[player]
    return f'<circle cx="{x:g}" cy="{y:.1f}" r="5" fill="{fill}" stroke="{edge}"/>'


def _colour(box: _Box) -> str:
    """Return the colour of a move's value for the player to move at the root: from red by grey to green."""
    value = box.stats["Q"] if box.edge.proven is None else box.edge.proven
    value = max(-1.0, min(1.0, value if box.edge.playerTurn == box.edge.mcts.root.playerTurn else -value))
    ends = (43, 163, 107) if value > 0 else (209, 73, 91)
    mixed = (round(138 + (end - 138) * abs(value) ** 0.5) for end in ends)
    return f"#{''.join(f'{part:02x}' for part in mixed)}"


# ---- a simulation at a time


def _key(edge: Edge) -> tuple[int, int]:
    return int(edge.mcts.forest.nodes[edge.node]["key"]), edge.action


def counts(mcts: MCTS) -> dict[tuple[int, int], int]:
    """Return the visits of all moves of a tree."""
    f, found = mcts.forest, {}
    for node in f.nodes[: len(mcts)]:
        rows = slice(int(node["first"]), int(node["first"] + node["materialised"]))
        for action, visits in zip(f.moves["action"][rows].tolist(), f.edges["N"][rows].tolist(), strict=True):
            found[int(node["key"]), action] = visits
    return found


class Growth:
    """A search that goes on one simulation at a time, from an empty tree; each step is a picture.

    The numbers are those of a search that evaluates one position at a time: `explain` on `agent.twin(..., leaves=1)`.
    """

    def __init__(self, player: Agent | RolloutPlayer, state: GameState) -> None:
        """Begin; of an agent a twin is made, rollouts must be new."""
        self._player = player if isinstance(player, RolloutPlayer) else player.twin(player.game, MOST_STEPS, leaves=1)
        self._state, self.simulations, self.over = state, 0, False
        """over: whether further steps change nothing: the root is proven, or there were MOST_STEPS."""

    def step(self, count: int = 1) -> Node:
        """Run `count` simulations; return the root."""
        goal = min(self.simulations + count, MOST_STEPS)
        root = self._player.think(self._state, goal)
        self.over = root.visits < goal or goal == MOST_STEPS or root.proven is not None
        self.simulations = root.visits
        return root

    def picture(self, count: int = 1, **size: int) -> str:
        """Run `count` simulations; return the tree with the branches of the last one marked. size: as of `tree_svg`."""
        if count > 1:
            self.step(count - 1)
        tree = self._player.MCTS if isinstance(self._player, Agent) else self._player.trees(0)[0]
        before = {} if tree is None or self.simulations == 0 else counts(tree)
        root = self.step()
        return tree_svg(root, before=before, **size)
