"""The result of a search on a position, as a table for people and as values for programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from agent import Agent
from game import GameState
from games.line_of_moves import after_moves as after_moves  # notebooks import it from here
from languages.translate import tr
from MCTS import Node
from search.main_lines import main_lines
from search.solving.forced_wins import win_length
from search.tables import UNVISITED
from search.trace import choices_at
from system.terminal import columns_of, padded

ALONE = 10
"""Moves without a visit that have a row of their own, at most: the best moves, which come first, stay in sight."""
PROVEN = {"": None, "won": 1.0, "lost": -1.0, "drawn": 0.0}


def explain(agent: Agent, state: GameState) -> dict[str, Any]:
    """Search a position and return the result of the search; see `describe`."""
    root = agent.think(state)
    found = describe(root, agent.name, opinion(agent, root))
    plies = win_length(agent.game, state) if root.proven == 1.0 else None
    return found | ({"win_in_plies": plies} if plies else {})


def opinion(agent: Agent, node: Node) -> tuple[float, Any] | None:
    """Return the network's value and priors of a node that was not evaluated: one won at once, solved or forced."""
    evaluated = node.proven not in (1.0, 0.0) and not node.forced
    return None if evaluated else agent.get_preds(node.state)[:2]


def describe(node: Node, player: str, network: tuple[float, Any] | None = None) -> dict[str, Any]:
    """Return the search's result at a node, the root or another; values are for the player to move there.

    moves: one entry for each legal move, most visited first and after all others those proven to be worse than the
    best, with N, share, P, Q, U, V, what is proven about it (won, lost, drawn or "") and its principal variation pv;
    empty before the node is expanded. V is the network's own value of the position after the move (its proven value, if
    any), Q the search's. dropped: how many nodes there was no room for, if any. `network`: the network's value and
    priors [action_size], for a root that was not evaluated (see `opinion`).
    """
    mcts = node.mcts
    game, total = mcts.game, max(node.visits, 1)
    lines: list[dict[str, Any]] = []
    choices = [] if node.isLeaf() else choices_at(mcts, node.index)
    value, priors = network or (node.value, None)
    after = main_lines(mcts.forest, np.array([choice.child for choice in choices], np.int64))
    for choice, line in zip(choices, after, strict=True):
        child = None if choice.child == UNVISITED else Node(mcts, choice.child)
        sign = 1 if child and child.playerTurn == node.playerTurn else -1
        known = PROVEN[choice.proven] if child is None or child.proven is None else sign * child.proven
        P = choice.P if priors is None else float(priors[choice.action])
        lines.append({
            "move": game.move_name(choice.action), "action": choice.action, "N": choice.N, "share": choice.N / total,
            "P": P, "Q": choice.Q if choice.N else None, "U": choice.U * P / choice.P if choice.P else 0.0,
            "V": known if known is not None else sign * child.value if child and choice.N else None,
            "proven": choice.proven, "pv": [game.move_name(action) for action in (choice.action, *line.moves)],
        })  # fmt: skip
    proven = next(word for word, value in PROVEN.items() if value == node.proven)
    kept = (set(PROVEN) - {"lost"}) if node.proven is None else {proven}
    lines.sort(key=lambda line: (line["proven"] not in kept, -line["N"]))
    return {
        "game": game.spec, "player": player, "to_move": game.pieces[node.playerTurn], "simulations": node.visits,
        "network_value": value, "search_value": node.Q, "proven": proven, "nodes": len(mcts), "moves": lines,
        **({"dropped": mcts.dropped()} if mcts.dropped() else {}),
    }  # fmt: skip


def simulations(count: int) -> str:
    """Return a number of simulations in words."""
    return tr("1 simulation") if count == 1 else tr("{count} simulations", count=count)


def nodes(count: int) -> str:
    """Return a number of nodes in words."""
    return tr("1 node") if count == 1 else tr("{count} nodes", count=count)


def proof(found: dict[str, Any]) -> str:
    """Return e.g. " (proven won: forced win in 3 moves)", with the player's own moves; "" where nothing is proven."""
    if not found["proven"]:
        return ""
    words, moves = tr("proven {result}", result=tr(found["proven"])), (found.get("win_in_plies", 0) + 1) // 2
    if moves:
        words += tr(": forced win in 1 move") if moves == 1 else tr(": forced win in {count} moves", count=moves)
    return f" ({words})"


def _line_of(moves: list[str], room: int | None) -> str:
    """Return the moves of a line, as many as have room, and dots for the others; the first is always there."""
    count = len(moves)
    while room is not None and count > 1 and columns_of(_first(moves, count)) > room:
        count -= 1
    return _first(moves, count)


def _first(moves: list[str], count: int) -> str:
    return " ".join(moves[:count]) + (" ..." if count < len(moves) else "")


def as_text(found: dict[str, Any], state: GameState, columns: int | None = None) -> str:
    """Return `explain`'s result as a board and a table; `columns`: of a terminal, in which a row has one line."""
    side, network, search = found["to_move"], f"{found['network_value']:+.3f}", f"{found['search_value']:+.3f}"
    effort = {"simulations": simulations(found["simulations"]), "nodes": nodes(found["nodes"])}
    heads = padded(tr("move"), -5), f"{'N':>6}", padded(tr("share"), -7), *(f"{key:>7}" for key in "PQUV")
    lines = [
        state.render(),
        "",
        tr("{side} to move; {player}, {simulations}, {nodes}", side=side, player=found["player"], **effort),
        tr("value for {side}: network {network}, search {search}", side=side, network=network, search=search)
        + proof(found),
        "",
        f"{' '.join(heads)}  {tr('principal variation')}",
    ]
    visited = [m for m in found["moves"] if m["N"]]
    rest = len(found["moves"]) - len(visited)
    for m in visited if rest > ALONE else found["moves"]:
        q, v = (f"{m[key]:+.3f}" if m[key] is not None else "-" for key in ("Q", "V"))
        row = f"{m['move']:>5} {m['N']:>6} {100 * m['share']:>6.1f}% {m['P']:>7.3f} {q:>7} {m['U']:>7.3f} {v:>7}"
        end = f"  {tr(m['proven'])}" if m["proven"] else ""
        room = None if columns is None else columns - columns_of(row + end) - 2
        lines.append(f"{row}  {_line_of(m['pv'], room)}{end}")
    if rest > ALONE:
        lines.append(tr("and {count} moves without a visit", count=rest))
    return "\n".join(lines)
