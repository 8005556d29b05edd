"""Players and games of a match as bytes, so that another machine can play the games: it has no runs of this one.

A network of a run travels as the small folder that `ship` writes, of one version; every other player by its name.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agent import Player
from config import UserError
from evaluation.match import Job, MatchGame, play_batch
from evaluation.release import write_small
from game import Game, GameState
from network.cpu_features import resolve_precision
from network.predictor import STEADY
from players.by_name import make_player, network_named, one_at_a_time
from storage.atomic_files import read_file
from storage.game_record import GameRecord
from storage.run_folders import game_folder, read_config, shipped_run

HOME = "run0001"
"""The run that a network belongs to where it has travelled to."""


class Traveller(NamedTuple):
    """A player that can be made on another machine."""

    name: str
    """As it is made there."""
    sims: int
    files: dict[str, bytes]
    """{path in its run's folder: content}; {} for a player that every machine can make."""


def traveller(name: str, game: Game, sims: int, library: str) -> Traveller:
    """Return a player by its name. library: evaluates its network on every machine, "openvino" or "onnxruntime"."""
    text = name.strip()
    if one_at_a_time(text) or "+book:" in text.lower():
        raise UserError(f"cluster: expected players without a clock, a program or a book's file, got {text[:60]!r}")
    named = network_named(text, game)
    if named is None:
        return Traveller(text, sims, {})
    if named.folder == shipped_run(game.spec):
        return Traveller(named.called("shipped"), sims, {})
    precision = resolve_precision(read_config(named.folder).precision)
    with tempfile.TemporaryDirectory() as place:
        small = Path(place) / HOME
        write_small(named.folder, named.version, small, backend=library, precision=precision)
        files = {p.relative_to(small).as_posix(): read_file(p) for p in sorted(small.rglob("*")) if p.is_file()}
    return Traveller(named.called(f"{HOME}:best"), sims, files)


def to_bytes(
    game: Game, players: tuple[Traveller, Traveller], jobs: Sequence[Job], *, seed: int, turns_until_tau0: int
) -> bytes:
    """Return what another machine needs to play games: a line of JSON, then the players' files."""
    files = [data for player in players for data in player.files.values()]
    head = {
        "game": game.spec, "seed": seed, "turns_until_tau0": turns_until_tau0, "jobs": jobs,
        "players": [[p.name, p.sims, {path: len(data) for path, data in p.files.items()}] for p in players],
    }  # fmt: skip
    return json.dumps(head).encode() + b"\n" + b"".join(files)


class Visitor:
    """Plays, on another machine, the games that bytes describe; it keeps players from one match to the next."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._made: dict[tuple[Any, ...], Player] = {}
        self._head: dict[str, Any] = {}
        self._players: list[Player] = []

    def load(self, data: bytes) -> None:
        """Take the description of games."""
        line, _, body = data.partition(b"\n")
        self._head = json.loads(line)
        ends = accumulate((n for _, _, files in self._head["players"] for n in files.values()), initial=0)
        pieces = iter([body[a:b] for a, b in pairwise(ends)])
        wanted = [  # each side has its own player, also where both have the same name
            (side, name, sims, tuple((p, next(pieces)) for p in files))
            for side, (name, sims, files) in enumerate(self._head["players"])
        ]
        self._made = {key: self._made.get(key) or self._make(*key[1:]) for key in wanted}
        self._players = [self._made[key] for key in wanted]

    def _make(self, name: str, sims: int, files: tuple[tuple[str, bytes], ...]) -> Player:
        with tempfile.TemporaryDirectory() as place:
            small = Path(place) / game_folder(self._game.spec) / HOME
            for path, data in files:
                if not (small / path).resolve().is_relative_to(small.resolve()):
                    raise UserError(f"expected files of a run's folder, got {path[:60]!r}")
                (small / path).parent.mkdir(parents=True, exist_ok=True)
                (small / path).write_bytes(data)
            return make_player(name, self._game, sims=sims, smallest=STEADY, root=Path(place))

    def play(self, indices: Sequence[int], stop: Callable[[], bool]) -> list[GameRecord]:
        """Play the games with these indices side by side; [] if `stop`, called before each move, became true."""
        of_index = {job[0]: (job[0], job[1], job[2]) for job in self._head["jobs"]}
        one, other = (_Watched(player, stop) for player in self._players)
        at_once, played = min(player.at_once for player in self._players), []
        try:
            for first in range(0, len(indices), at_once):
                jobs = [of_index[i] for i in indices[first : first + at_once]]
                turns = self._head["turns_until_tau0"]
                played += play_batch(self._game, (one, other), jobs, seed=self._head["seed"], turns_until_tau0=turns)
        except _Stopped:
            return []
        return [g.record for g in played]


class _Stopped(Exception):
    """The games are not to be finished."""


class _Watched(Player):
    """A player that asks before each move whether to go on."""

    def __init__(self, player: Player, stop: Callable[[], bool]) -> None:
        super().__init__(player.name, player.game)
        self._player, self._stop = player, stop
        self.new_games, self.new_game, self.observe = player.new_games, player.new_game, player.observe  # type: ignore[method-assign]

    def act_many(self, slots: Sequence[int], states: Sequence[GameState], taus: Sequence[float]) -> Any:
        if self._stop():
            raise _Stopped
        return self._player.act_many(slots, states, taus)


def match_game(game: Game, job: Job, record: GameRecord) -> MatchGame:
    """Return the game of a match that another machine has played."""
    index, opening, first = job
    moves = record.moves.tolist()
    values: tuple[list[float], list[float]] = ([], [])
    state = game.start()
    for ply, action in enumerate(moves):
        if ply >= len(opening):
            values[int((state.playerTurn == 1) != first)].append(float(record.values[ply]))
        state = state.takeAction(action)[0]
    score = 0.5 + float(np.sign(record.result if first else -record.result)) / 2
    return MatchGame(index, list(opening), moves, first, score, record, values)
