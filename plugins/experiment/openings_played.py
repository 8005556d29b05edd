"""The openings of self-play: how often each was played, how it scored, and how that changed in the run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from config import Config
from game import Game
from games.line_of_moves import played
from plugins.experiment.boards import Boards
from storage.game_record import IMPORTED
from storage.run_store import Store

PARTS = 4
"""Parts of a run that are compared."""
DEPTH, RARE, MOST = 8, 0.01, 250
"""Plies of an opening; the least share of all games; most positions."""


@dataclass
class Node:
    """A position of openings."""

    games: list[int] = field(default_factory=lambda: [0] * PARTS)
    points: list[float] = field(default_factory=lambda: [0.0] * PARTS)
    """Of the player who began: 1, 1/2, 0 a game."""
    after: dict[int, Node] = field(default_factory=dict)


def openings_played(store: Store, config: Config, game: Game) -> tuple[Node, list[tuple[int, int]]]:
    """Return (the first position, the first and last iteration of each part) of a run's own games.

    Where every move is searched in full, games that began with random moves are left out: they say nothing.
    """
    iterations = sorted(i for i in store.game_counts() if 0 < i < IMPORTED)
    split = np.array_split(np.array(iterations, int), min(PARTS, max(len(iterations), 1)))
    parts = [part for part in split if len(part)]
    part_of = {int(i): number for number, part in enumerate(parts) for i in part}
    root, searched_all = Node(), config.full_search_share == 1
    if game.sizes:  # openings of several boards do not fit together
        return root, []
    for row in store.rows("games", "WHERE idx < ?", (IMPORTED,)):
        iteration, result, moves, visits = row[0], row[3], np.frombuffer(row[4], "<i2"), row[5]
        if iteration not in part_of or searched_all and not (visits and visits[0] & 128):
            continue
        node, part = root, part_of[iteration]
        for move in [None, *moves[:DEPTH].tolist()]:
            node = node if move is None else node.after.setdefault(move, Node())
            node.games[part] += 1
            node.points[part] += (float(np.sign(result)) + 1) / 2
    return root, [(int(part[0]), int(part[-1])) for part in parts]


def as_values(root: Node, game: Game, boards: Boards) -> list[dict[str, Any]]:
    """Return the positions for the report, the first one at its head; rare ones are left out."""
    total = sum(root.games)
    found: list[dict[str, Any]] = [
        {"board": boards.add(game.start()), "move": "", "after": [], "games": root.games, "points": root.points}
    ]
    waiting = [(root, game.start(), 0)]
    while waiting and len(found) < MOST:
        node, state, number = waiting.pop(0)
        for move, after in sorted(node.after.items(), key=lambda pair: -sum(pair[1].games)):
            if sum(after.games) < max(RARE * total, 2) or state.isEndGame:
                continue
            reached = played(game, state, move)
            found[number]["after"].append(len(found))
            waiting.append((after, reached, len(found)))
            found.append(
                {
                    "board": boards.add(reached),
                    "move": game.move_name(move),
                    "after": [],
                    "games": after.games,
                    "points": [round(p, 1) for p in after.points],
                }
            )
    return found
