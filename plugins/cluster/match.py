"""The games of matches on a cluster: the same as on this machine, shared out among its actors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from agent import Player
from evaluation.match import Job, MatchGame
from evaluation.players_as_bytes import Traveller, match_game, to_bytes, traveller
from game import Game
from games.own import digest
from network.cpu_features import native_bfloat16
from plugins.cluster.cluster import Cluster
from plugins.cluster.pool import ClusterPool, backend_of
from storage.atomic_files import sha256
from storage.game_exchange import fault
from storage.game_record import GameRecord
from training.worker_messages import Expected, pack
from training.worker_pool import RoundSpec

SIDE_BY_SIDE = 16
"""Games of a match that an actor plays side by side."""


def connect(address: str, cores: int, say: Callable[[str], None], *, without_token: bool = False) -> Cluster:
    """Return the connection to a cluster for matches; most players use one core, so an actor has one by default."""
    precision = "bfloat16" if native_bfloat16() else "float32"
    return Cluster(
        address, cores=cores or 1, library=backend_of("auto"), precision=precision, say=say, without_token=without_token
    )


class ClusterMatches:
    """Plays games on a cluster; `play` takes the place of `evaluation.match.play_batch`."""

    def __init__(self, cluster: Cluster, game: Game, say: Callable[[str], None]) -> None:
        self._game, self._library, self._content, self._rounds = game, backend_of("auto"), b"", 0
        self._known: dict[str, Traveller] = {}
        head = {"kind": "match", "game": game.spec, "rules": digest(game), "cores": cluster.cores}
        self._pool = ClusterPool(
            cluster,
            pack(head),
            workers=0,
            content=lambda spec: self._content,
            side_by_side=SIDE_BY_SIDE,
            log=say,
            expected=lambda board: Expected(game.action_size, game.max_plies, self._fault),
        )
        self._openings: dict[int, list[int]] = {}
        self.batch = SIDE_BY_SIDE * 2 * max(cluster.slots(), 1)
        """Games of a match that keep all of the cluster at work."""

    def _fault(self, record: GameRecord) -> str:
        """Return what is wrong with a game by the rules; its visits may be those of any search."""
        opening = self._openings[record.index]
        if record.moves[: len(opening)].tolist() != opening:
            return f"begins with other moves than {opening}"
        if not np.isfinite(record.values).all():
            return "has values that are no numbers"
        nothing = np.zeros_like(record.visits), np.zeros_like(record.values)
        return fault(self._game, record._replace(visits=nothing[0], values=nothing[1]))

    def know(self, player: Player, typed: str, sims: int) -> None:
        """Let a player of this machine be played by the one with this name there, with `sims` simulations a move.

        Players that are not known are made there by their own name.
        """
        self._known[player.name] = traveller(typed, self._game, sims, self._library)

    def play(
        self, game: Game, players: tuple[Player, Player], jobs: Sequence[Job], *, seed: int, turns_until_tau0: int = 0,
        report: Callable[[int], None] | None = None,
    ) -> list[MatchGame]:  # fmt: skip
        """Play games as `play_batch` does and return them in the order given."""
        if not jobs:
            return []
        one, other = (self._traveller(player) for player in players)
        self._content = to_bytes(game, (one, other), jobs, seed=seed, turns_until_tau0=turns_until_tau0)
        self._openings = {index: opening for index, opening, _ in jobs}
        self._rounds += 1
        spec = RoundSpec("match", self._rounds, 0, "", sha256(self._content))
        found = {}
        for record in self._pool.play(spec, [job[0] for job in jobs]):
            found[record.index] = record
            if report is not None:
                report(len(found))
        return [match_game(game, job, found[job[0]]) for job in jobs]

    def _traveller(self, player: Player) -> Traveller:
        return self._known.get(player.name) or traveller(player.name, self._game, 1, self._library)

    def close(self) -> None:
        """End the actors."""
        self._pool.close()
