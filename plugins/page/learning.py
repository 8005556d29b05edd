"""Watch it learn: one position as the versions of a run see it, without search; what each can, milestones in words."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from agent import Agent
from config import UserError
from evaluation.milestones import WORDS, Probe, chosen_versions, in_words, milestones, network_of, probes, shares
from evaluation.move_accuracy import choose_alone
from evaluation.solved_positions import Solved
from game import Game, GameState
from games.line_of_moves import after_moves
from languages.translate import tr
from plugins.page.home import address_of
from plugins.page.run_reader import game_spec, metrics, readable, reading
from plugins.page.runs_shown import folder_of
from plugins.page.searches import position_of
from plugins.page.web_players import Roster, is_number, prefix_of
from plugins.pictures.board_grid import grid_of, point_of
from plugins.pictures.board_parts import board_parts

KEPT_LOOKS, KEPT_PROBES = 400, 6
"""Versions whose shares are kept, and games whose positions are."""
BOARDS = 8
"""Versions of the row."""
POSITIONS = {
    "start": "the start",
    "win": "a win in one",
    "stop": "a win in one to stop",
    "three": "a win in three",
}
TEXTS = "the start", "a win in one", "a win in one to stop", "a win in three"


class Learning:
    """What versions know. Safe to use from several threads, which take turns: networks are loaded one at a time."""

    def __init__(self, roster: Roster) -> None:
        self._roster, self._lock = roster, threading.Lock()
        self._probes: OrderedDict[str, list[Probe]] = OrderedDict()
        self._shares: OrderedDict[str, dict[str, float]] = OrderedDict()
        """{digest of a version's file: its `shares`}"""
        self._shown: OrderedDict[str, dict[str, Solved]] = OrderedDict()
        """{digest of a run's first version: what `_instructive` chose}"""

    def _game(self, folder: Path) -> Game:
        return self._roster.find(game_spec(folder, self._roster.named))

    def versions(self, name: str) -> dict[str, Any]:
        """Return the versions of a run that are looked at, and the positions that can be chosen."""
        found = chosen_versions(list(_versions(folder_of(name))))
        return {
            "versions": found,
            "shown": chosen_versions(found, BOARDS),
            "positions": [{"key": key, "name": tr(text)} for key, text in POSITIONS.items()],
            "games": games_before(metrics(folder_of(name))),
        }

    def look(self, name: str, version: int, position: str, moves: list[str]) -> dict[str, Any]:
        """Return what a version thinks of a position; position: one of POSITIONS, or "moves" for that after `moves`."""
        folder = folder_of(name)
        game = self._game(folder)
        if version not in _versions(folder):
            raise LookupError(version)
        with self._lock:
            state, right = self._position(folder, game, position, moves)
            with readable(folder):
                agent = network_of(folder, version, game)
            value, policy, legal = agent.get_preds(state)
        grid = grid_of(state)
        run = f"{prefix_of(name)}{folder.name}"
        return {
            "version": version,
            "value": float(value),
            "policy": {int(action): float(policy[action]) for action in legal},
            "names": {int(action): game.move_name(int(action)) for action in legal},
            "points": {int(a): -1 if grid is None or (p := point_of(game, grid, int(a))) is None else p for a in legal},
            "drawing": board_parts(game) if grid is not None else None,
            "position": position_of(game, state),
            "right": sorted(right),
            "url": f"{address_of(game.spec)}?player={run}:version{version:04}",
        }

    def _position(self, folder: Path, game: Game, position: str, moves: list[str]) -> tuple[GameState, set[int]]:
        """Return (the chosen position, its right moves where they are known); the start where there is no such."""
        if position == "moves":
            state = after_moves(game, [game.parse_move(name) for name in moves])
            if state.isEndGame:
                raise UserError("expected a position in which a move can be played")
            return state, set()
        found = None if position == "start" else self._instructive(folder, game).get(position)
        return (found.state, found.keeping) if found else (game.start(), set())

    def _instructive(self, folder: Path, game: Game) -> dict[str, Solved]:
        """Return {kind: a probe's position that the run's first version gets wrong}, so that one sees it learn."""
        version, digest = min(_versions(folder).items(), default=(0, ""))
        if digest not in self._shown:
            with readable(folder):
                agent = network_of(folder, version, game)
            self._shown[digest] = {
                probe.kind: _missed(agent, probe) for probe in self._asked(game) if probe.kind in POSITIONS
            }
            while len(self._shown) > KEPT_LOOKS:
                self._shown.popitem(last=False)
        return self._shown[digest]

    def _asked(self, game: Game) -> list[Probe]:
        """Return the probes of a game, made once."""
        if game.spec not in self._probes:
            self._probes[game.spec] = probes(game)
            while len(self._probes) > KEPT_PROBES:
                self._probes.popitem(last=False)
        return self._probes[game.spec]

    def milestones(self, name: str) -> dict[str, Any]:
        """Return the milestones of a run in words, each with its version. Takes seconds."""
        folder = folder_of(name)
        game, found = self._game(folder), {}
        for version, digest in _chosen(folder).items():
            with self._lock:
                if digest not in self._shares:
                    asked = self._asked(game)
                    with readable(folder):
                        self._shares[digest] = shares(network_of(folder, version, game), asked)
                    while len(self._shares) > KEPT_LOOKS:
                        self._shares.popitem(last=False)
                found[version] = self._shares[digest]
        first = min(found, default=0)
        return {
            "words": [{"text": in_words(one, first), "version": one.version} for one in milestones(found)],
            "kinds": {kind: tr(text) for kind, text in WORDS.items()},
            "shares": found,
        }


def _missed(agent: Agent, probe: Probe) -> Solved:
    """Return the first position of a probe in which the most probable move is wrong; the first where all are right."""
    chosen = zip(probe.positions, choose_alone(agent, probe.positions), strict=True)
    return next((one for one, action in chosen if action not in one.keeping), probe.positions[0])


def games_before(lines: list[dict[str, Any]]) -> dict[int, int]:
    """Return {version: games of self-play before it}; lines: of a run's metrics.

    >>> games_before([{"version": 1, "self_play_games": 30}, {"version": 2, "self_play_games": 20}])
    {0: 0, 1: 30, 2: 50}
    """
    found, total = {0: 0}, 0
    for line in lines:
        if is_number(line.get("self_play_games")) and is_number(line.get("version")):
            total += int(line["self_play_games"])
            found[int(line["version"])] = total
    return found


def _versions(folder: Path) -> dict[int, str]:
    """Return {version: digest of its file} of a run."""
    with reading(folder) as store:
        return {row.version: row.sha256 for row in store.versions()}


def _chosen(folder: Path) -> dict[int, str]:
    """Return the same of the versions that are looked at."""
    rows = _versions(folder)
    return {version: rows[version] for version in chosen_versions(list(rows))}
