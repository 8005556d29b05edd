"""What a search thought of a position, as a table for people and as values for programs."""

from __future__ import annotations

from typing import Any

from agent import Agent
from choices import choices_at, snapshot
from game import Game, GameState


def after_moves(game: Game, moves: list[int]) -> GameState:
    """Return the position after moves from the start; illegal ones raise `UserError` with the board."""
    state = game.start()
    for action in moves:
        state = state.takeAction(action)[0]
    return state


def explain(agent: Agent, state: GameState) -> dict[str, Any]:
    """Search a position and return what the search found; values are for the player to move.

    moves: one entry for each legal move, most visited first, with N, share, P, Q, U, its principal variation pv and
    what is proven of it (won, lost, drawn or ""). P and network_value are the network's own.
    """
    root = agent.think(state)
    mcts, game = root.mcts, agent.game
    network_value, priors, _ = agent.get_preds(state)
    lines = []
    total = max(root.visits, 1)
    for choice, (action, edge) in zip(choices_at(mcts, snapshot(mcts), root.index), root.edges, strict=True):
        after = [game.move_name(a) for a in mcts.principal_variation(edge.outNode)] if edge.outNode else []
        lines.append({
            "move": game.move_name(action), "N": choice.N, "share": choice.N / total, "P": float(priors[action]),
            "Q": choice.Q if choice.N else None, "U": choice.U, "pv": [game.move_name(action), *after],
            "proven": choice.proven,
        })  # fmt: skip
    lines.sort(key=lambda line: -line["N"])
    proven = {None: "", 1.0: "won", -1.0: "lost", 0.0: "drawn"}[root.proven]
    return {
        "game": game.spec, "player": agent.name, "to_move": game.pieces[state.playerTurn], "simulations": root.visits,
        "network_value": network_value, "search_value": root.Q, "nodes": len(mcts),
        "proven": proven, "moves": lines,
    }  # fmt: skip


def as_text(found: dict[str, Any], state: GameState) -> str:
    """Return `explain`'s result as a board and a table."""
    lines = [
        state.render(),
        "",
        f"{found['to_move']} to move; {found['player']}, {found['simulations']} simulations, {found['nodes']} nodes",
        f"value for {found['to_move']}: network {found['network_value']:+.3f}, search {found['search_value']:+.3f}"
        + (f" (proven {found['proven']})" if found['proven'] else ""),
        "",
        f"{'move':>5} {'N':>6} {'share':>7} {'P':>7} {'Q':>7} {'U':>7}  principal variation",
    ]
    for m in found["moves"]:
        q = f"{m['Q']:+.3f}" if m["Q"] is not None else "-"
        pv = " ".join(m["pv"])
        lines.append(f"{m['move']:>5} {m['N']:>6} {100 * m['share']:>6.1f}% {m['P']:>7.3f} {q:>7} {m['U']:>7.3f}  {pv}"
                     + (f"  {m['proven']}" if m["proven"] else ""))  # fmt: skip
    return "\n".join(lines)
