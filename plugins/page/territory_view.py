"""Score lead and territory of a position of Go, only where the network itself says who will own each point."""

from __future__ import annotations

from html import escape
from typing import Any

from agent import Agent
from game import Game, GameState
from languages.translate import tr
from plugins.engines.snapshot import snapshot
from plugins.engines.territory import Territory


def territory_of(analyst: Any, game: Game) -> Territory | None:
    """Return what counts positions for a player; None without a network whose ownership head was trained on Go."""
    if not isinstance(analyst, Agent) or analyst.model is None or not game.scored_by_area:
        return None
    found = Territory(analyst, game)
    return found if found.by_network else None


def counted(territory: Territory, state: GameState) -> dict[str, Any]:
    """Return lead: the points by which the first player leads after the search, and owned: {point: owner}.

    An owner is 1 for the first player, -1 for the other one, or between.
    """
    tree = territory.agent.MCTS
    if tree is None or state.isEndGame:
        return {}
    owned = territory.after(state, snapshot(tree))[0]
    return {"lead": territory.score(owned, state), "owned": dict(enumerate(owned.ravel().tolist()))}


def lead_html(lead: float, sides: tuple[str, str]) -> str:
    """Return a score lead in words; sides: the names of the first player and of the other one."""
    side = escape(sides[lead < 0])
    return f'<div class="lead">{tr("{side} leads by {points} points.", side=side, points=f"{abs(lead):.1f}")}</div>'
