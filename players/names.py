"""The names of players: one form of each kind, for help texts and hints."""

from __future__ import annotations

from system.plugins import plugins

NETWORKS = "best, current, version0007, shipped, run0002:best, run0002:version0007, sym:best, int8:best, best:2s"
ADDED = {head: (plugin, new) for plugin, found in plugins().items() for head, new in found.players.items()}
"""{head of the names of players that a plugin adds: (plugin, what it adds)}"""

PLAYERS = ", ".join(
    [
        NETWORKS,
        "net:best, level:3, rollout:5000, rollout:2s, rollout:2s+book, alphabeta:6, alphabeta:2s",
        "greedy, solver, random, uct:1000",
        *(new.example for _, new in ADDED.values()),
        "human",
    ]
)
"""A player of each form that `by_name` reads; help and errors show them, and suggest the nearest to a wrong name."""
