"""Games between two players: many side by side, one in which people take part, pairs until a rule decides."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from agent import RESIGN, Player, Resigned, TakeBack, User, is_legal
from config import UserError
from evaluation.openings import openings
from game import Game, GameState, illegal_move
from games.line_of_moves import played
from games.returned_values import check_ply
from languages.translate import tr
from storage.game_record import GameRecord

Job = tuple[int, list[int], bool]
"""(index, opening, whether player 1 begins) of a game."""
MOST_FORFEITS = 20
"""One game of this many may be lost by rule; with more of them a match measures nothing."""


class MatchGame(NamedTuple):
    """One finished game of a match."""

    index: int  # type: ignore[assignment]
    """2 * pair, plus 1 when player 2 began; where one side always begins (`playMatches`) its number."""
    opening: list[int]
    moves: list[int]
    """All moves, the opening's included."""
    first_began: bool
    """Whether player 1 had playerTurn 1."""
    score: float
    """Of player 1: 1, 0.5 or 0."""
    record: GameRecord
    values: tuple[list[float], list[float]]
    """Each player's values of its own positions."""
    seconds: tuple[float, ...] = ()
    """Seconds that each move took, 0 for those of the opening; () if games were played side by side."""
    forfeit: str = ""
    """Why its loser lost by rule, not by play: it failed, or its move was not legal."""


def forfeits_of(games: Sequence[MatchGame]) -> tuple[int, int]:
    """Return how many games player 1 and player 2 lost by rule, not by play."""
    lost = [g.score == 0 for g in games if g.forfeit]
    return sum(lost), len(lost) - sum(lost)


def forfeit_words(forfeits: int, games: int) -> str:
    """Return how many games were lost by rule, and what that says of them all."""
    said = f"{forfeits} of {games} games ended by forfeit, not by play"
    return said + f": more than one in {MOST_FORFEITS}, so this measures nothing" * too_many_forfeits(forfeits, games)


def too_many_forfeits(forfeits: int, games: int) -> bool:
    """Return whether too many games were lost by rule for the result to say anything about play."""
    return forfeits * MOST_FORFEITS > games


class MatchMachines(Protocol):
    """Other machines that play the games of matches; a plugin may add some to the commands `match`, `evaluate`."""

    batch: int
    """Games of a match that keep all of them at work."""

    def know(self, player: Player, typed: str, sims: int) -> None:
        """Let a player of this machine be played there by the one with this name, with `sims` simulations a move."""
        ...

    def play(
        self, game: Game, players: tuple[Player, Player], jobs: Sequence[Job], *, seed: int, turns_until_tau0: int = 0,
        report: Callable[[int], None] | None = None,
    ) -> list[MatchGame]:  # fmt: skip
        """Play games as `play_batch` does."""
        ...


def play_batch(
    game: Game,
    players: tuple[Player, Player],
    jobs: Sequence[Job],
    *,
    seed: int,
    turns_until_tau0: int = 0,
    report: Callable[[int], None] | None = None,
) -> list[MatchGame]:
    """Play games side by side, jobs = (index, opening, whether player 1 begins); return them in the order given.

    A game depends on (seed, index) and the players only. A player who can play only one game at a time (a person, a
    player with a clock) plays its games one after the other.
    """
    if min(player.at_once for player in players) == 1:
        alone = []
        for job in jobs:
            alone.append(play_alone(game, players, job, seed=seed, turns_until_tau0=turns_until_tau0))
            if report is not None and not any(player.is_person for player in players):
                report(len(alone))
        return alone
    for player in players:
        player.new_games(len(jobs))
    games_on = []
    for slot, (index, opening, first) in enumerate(jobs):
        for number, player in enumerate(players):
            player.new_game(slot, _chance(seed, index, number))
        games_on.append(_OpenGame(game, opening, first, players, slot))
    done = 0
    while True:
        running = [slot for slot, t in enumerate(games_on) if not t.is_over]
        if report is not None and len(jobs) - len(running) != done:
            done = len(jobs) - len(running)
            report(done)
        if not running:
            break
        for number, player in enumerate(players):
            slots = [s for s in running if games_on[s].to_move() == number and not games_on[s].is_over]
            if slots:
                taus = [1.0 if len(games_on[s].moves) < turns_until_tau0 else 0.0 for s in slots]
                for s, d in zip(slots, player.act_many(slots, [games_on[s].state for s in slots], taus), strict=True):
                    games_on[s].play(d.action, d.visits, d.value, number)
    return [t.finish(job) for t, job in zip(games_on, jobs, strict=True)]


def _chance(seed: int, index: int, number: int) -> int:
    """Return a player's seed in a game."""
    return int(np.random.default_rng([seed, index, number]).integers(2**63))


class _OpenGame:
    """One game of a batch."""

    def __init__(
        self, game: Game, opening: Sequence[int], first: bool, players: tuple[Player, Player], slot: int
    ) -> None:
        self.game, self.state, self.first = game, game.start(), first
        self.players, self.slot = players, slot
        self.moves: list[int] = []
        self.visits: list[np.ndarray] = []
        self.estimates: list[float] = []
        self.values: tuple[list[float], list[float]] = ([], [])
        self.resigned: int | None = None
        self.forfeit = ""
        self.seconds: dict[int, float] = {}
        """{move: seconds that it took}, where they were measured"""
        for action in opening:
            self.play(action, np.zeros(game.action_size), 0.0, None)

    def to_move(self) -> int:
        """Return 0 when it is player 1's turn, else 1."""
        return int((self.state.playerTurn == 1) != self.first)

    @property
    def is_over(self) -> bool:
        return self.resigned is not None or self.state.isEndGame

    def play(self, action: int, visits: np.ndarray, value: float, number: int | None) -> None:
        """Play a move of player `number`, or of the opening with None; RESIGN loses the game."""
        if action == RESIGN and number is not None:
            return self.resign(number)
        if not is_legal(action, self.state):
            by = self.game.spec if number is None or self.game.origin else self.players[number].name
            raise UserError(f"{by}: {illegal_move(self.game, self.state, action).splitlines()[0]}")
        self.moves.append(action)
        self.visits.append(visits)
        self.estimates.append(value)
        if number is not None:
            self.values[number].append(value)
        self.state = played(self.game, self.state, action)
        check_ply(self.game, self.state, len(self.moves))
        for player in self.players:
            player.observe(self.slot, action)

    def resign(self, number: int) -> None:
        """Let player `number` lose."""
        self.resigned, self.forfeit = number, self.players[number].forfeit(self.slot)

    def result(self) -> float:
        """The result for playerTurn 1."""
        if self.resigned is not None:
            return 1.0 if (self.resigned == 1) == self.first else -1.0
        return self.state.value * self.state.playerTurn

    def finish(self, job: tuple[int, list[int], bool]) -> MatchGame:
        index, opening, first = job
        result = self.result()
        score = 0.5 + np.sign(result if first else -result) / 2
        visits = np.array([v if np.issubdtype(v.dtype, np.integer) else np.zeros_like(v) for v in self.visits])
        record = GameRecord(
            index, np.array(self.moves, np.int16), np.minimum(visits, 65_534).astype(np.uint16),
            np.array(self.estimates, np.float32), result,
        )  # fmt: skip
        seconds = tuple(self.seconds.get(i, 0.0) for i in range(len(self.moves))) if self.seconds else ()
        return MatchGame(
            index, list(opening), self.moves, first, float(score), record, self.values, seconds, self.forfeit
        )


def play_alone(
    game: Game,
    players: tuple[Player, Player],
    job: tuple[int, list[int], bool],
    *,
    seed: int = 0,
    turns_until_tau0: int = 0,
    watch: Callable[[GameState, Player, int], None] | None = None,
    kept: int | None = None,
) -> MatchGame:
    """Play one game in which people may take part: taking back, resigning and leaving (raises `Quit`) work.

    kept: moves at the beginning that cannot be taken back; by default those of the opening.
    """
    index, opening, first = job
    kept = len(opening) if kept is None else kept
    seeds = _chance(seed, index, 0), _chance(seed, index, 1)
    game_on = _seated(game, players, opening, first, seeds)
    while not game_on.is_over:
        number = game_on.to_move()
        player = players[number]
        began = time.monotonic()
        try:
            tau = 1.0 if len(game_on.moves) < turns_until_tau0 else 0.0
            action, pi, value, _ = player.act(game_on.state, tau)
        except TakeBack:
            before, game_on = game_on, _taken_back(game_on, kept, number, seeds)
            if game_on is before and isinstance(player, User):
                player.say(tr("There is no move of yours to take back."))
            continue
        except Resigned:
            game_on.resign(number)
            break
        game_on.seconds[len(game_on.moves)] = time.monotonic() - began
        game_on.play(action, *(player.searched or (pi, value)), number)
        if watch is not None:
            watch(game_on.state, player, action)
    return game_on.finish(job)


def _seated(
    game: Game, players: tuple[Player, Player], moves: Sequence[int], first: bool, seeds: tuple[int, int]
) -> _OpenGame:
    """Return a game in which these moves have been played."""
    for player, seed in zip(players, seeds, strict=True):
        player.new_games(1)
        player.new_game(0, seed)
    return _OpenGame(game, moves, first, players, 0)


def _taken_back(game_on: _OpenGame, kept: int, number: int, seeds: tuple[int, int]) -> _OpenGame:
    """Return the game before the last move of player `number`, in a game between people before the last move of all.

    Returns it unchanged when there is no such move.
    """
    moves, state = game_on.moves, game_on.game.start()
    people = all(player.is_person for player in game_on.players)
    own = []
    for ply, action in enumerate(moves):
        if ply >= kept and (people or int((state.playerTurn == 1) != game_on.first) == number):
            own.append(ply)
        state = played(game_on.game, state, action)
    return _seated(game_on.game, game_on.players, moves[: own[-1]], game_on.first, seeds) if own else game_on


def contest(
    game: Game,
    players: tuple[Player, Player],
    total: int,
    *,
    seed: int,
    opening_plies: int = 0,
    opened: Sequence[list[int]] | None = None,
    over: Callable[[list[float]], bool] = lambda scores: False,
    every: int = 64,
    batch: int = 0,
    known: dict[int, float] | None = None,
    keep: Callable[[list[MatchGame]], None] = lambda games: None,
    report: Callable[[int], None] = lambda done: None,
    play: Callable[..., list[MatchGame]] | None = None,
) -> list[float]:
    """Play pairs of games, both colours of each seeded opening, until `over`; return the scores of player 1.

    Plays at most `total` games, fewer if the game has fewer openings: no game is played twice. `opened`: openings in
    place of random ones of `opening_plies`. `over` is called after every `every` games. If `batch` is larger, `batch`
    games are played side by side, and those after the deciding game count for nothing. `known` holds scores of games
    already played; `keep` receives the new games. `play` is called as `play_batch`, in its place, with all games of a
    batch at once.
    """
    scores = dict(known or {})
    if opened is None:
        opened = openings(game, total // 2, plies=opening_plies, seed=seed)
    total, end = 2 * len(opened), 0
    at_once = min(player.at_once for player in players) if play is None else total
    while end < total:
        start, end = end, min(end + max(every, batch), total)
        jobs = [(i, opened[i // 2], i % 2 == 0) for i in range(start, end) if i not in scores]
        for first in range(0, len(jobs), at_once):
            before = end - len(jobs) + first
            part = jobs[first : first + at_once]

            def report_part(count: int, before: int = before) -> None:
                report(before + count)

            games = (play or play_batch)(game, players, part, seed=seed, report=report_part)
            keep(games)
            scores.update({g.index: g.score for g in games})
        for look in (*range(start + every, end, every), end):
            if over([scores[i] for i in range(look)]):
                return [scores[i] for i in range(look)]
    return [scores[i] for i in range(end)]
