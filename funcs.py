"""Games between players: matches and the tournament; many games run side by side."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent import RESIGN, Player, Resigned, TakeBack, User
from config import Config
from evaluation.openings import openings
from evaluation.promotion import Verdict, judge_sprt, judge_threshold
from game import Game, GameState
from memory import Memory
from storage.run_store import GameRecord

if TYPE_CHECKING:
    from initialise import Session


SIDE_BY_SIDE = 64
"""Games of a tournament: half of them wait for each network, so that its batches are full."""


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
    """What each player thought of its own positions."""


class MatchResult(NamedTuple):
    """As the article's playMatches returns it."""

    scores: dict[str, int]
    """{player 1: wins, "drawn": draws, player 2: wins}"""
    memory: Memory | None
    points: dict[str, list[float]]
    """{player: its points of each game}"""
    sp_scores: dict[str, int]
    """{"sp": wins of who began, "drawn": draws, "nsp": wins of the other}"""


def play_batch(
    game: Game,
    players: tuple[Player, Player],
    jobs: Sequence[tuple[int, list[int], bool]],
    *,
    seed: int,
    turns_until_tau0: int = 0,
    report: Callable[[int], None] | None = None,
) -> list[MatchGame]:
    """Play games side by side, jobs = (index, opening, whether player 1 begins); return them in the order given.

    A game depends on (seed, index) and the players only. A player who takes one game at a time, as a person does or one
    who plays by the clock, plays one after the other.
    """
    if min(player.at_once for player in players) == 1:
        return [play_alone(game, players, job, seed=seed, turns_until_tau0=turns_until_tau0) for job in jobs]
    for player in players:
        player.new_games(len(jobs))
    tables = []
    for slot, (index, opening, first) in enumerate(jobs):
        for number, player in enumerate(players):
            player.new_game(slot, _chance(seed, index, number))
        tables.append(_Table(game, opening, first, players, slot))
    done = 0
    while True:
        running = [slot for slot, t in enumerate(tables) if not t.is_over]
        if report is not None and len(jobs) - len(running) != done:
            done = len(jobs) - len(running)
            report(done)
        if not running:
            break
        for number, player in enumerate(players):
            slots = [s for s in running if tables[s].to_move() == number and not tables[s].is_over]
            if slots:
                taus = [1.0 if len(tables[s].moves) < turns_until_tau0 else 0.0 for s in slots]
                for s, d in zip(slots, player.act_many(slots, [tables[s].state for s in slots], taus), strict=True):
                    tables[s].play(d.action, d.visits, d.value, number)
    return [t.finish(job) for t, job in zip(tables, jobs, strict=True)]


def _chance(seed: int, index: int, number: int) -> int:
    """Return the seed of a player in a game."""
    return int(np.random.default_rng([seed, index, number]).integers(2**63))


class _Table:
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
        for action in opening:
            self.play(action, np.zeros(game.action_size), 0.0, None)

    def to_move(self) -> int:
        """0 when it is player 1's turn."""
        return int((self.state.playerTurn == 1) != self.first)

    @property
    def is_over(self) -> bool:
        return self.resigned is not None or self.state.isEndGame

    def play(self, action: int, visits: np.ndarray, value: float, number: int | None) -> None:
        """Play a move of player `number`, or of the opening with None; with RESIGN he has lost."""
        if action == RESIGN:
            self.resigned = number
            return
        self.moves.append(action)
        self.visits.append(visits)
        self.estimates.append(value)
        if number is not None:
            self.values[number].append(value)
        self.state = self.state.takeAction(action)[0]
        for player in self.players:
            player.observe(self.slot, action)

    def result(self) -> float:
        """For playerTurn 1."""
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
        return MatchGame(index, list(opening), self.moves, first, float(score), record, self.values)


def playMatches(
    game: Game,
    player1: Player,
    player2: Player,
    EPISODES: int,
    logger: logging.Logger,
    turns_until_tau0: int,
    memory: Memory | None = None,
    goes_first: int = 0,
    *,
    seed: int = 0,
    opening_plies: int = 0,
    in_flight: int = 64,
    report: Callable[[int], None] | None = None,
) -> MatchResult:
    """Play EPISODES games; goes_first: 1 = player 1 always begins, -1 = player 2, 0 = both colours of each opening.

    Without opening plies every game begins at the start. With a memory, every game is committed to its stmemory.
    """
    if player1.name == player2.name:
        raise ValueError(f"expected players of two names, got {player1.name!r} twice")
    pairs = [i // 2 if goes_first == 0 else i for i in range(EPISODES)]
    count = max(pairs, default=-1) + 1
    opened = openings(game, count, plies=opening_plies, seed=seed) if opening_plies else [[]]
    jobs = [
        (i, opened[pair % len(opened)], goes_first == 1 or (goes_first == 0 and i % 2 == 0))
        for i, pair in enumerate(pairs)
    ]
    points: dict[str, list[float]] = {player1.name: [], player2.name: []}
    scores = {player1.name: 0, "drawn": 0, player2.name: 0}
    sp_scores = {"sp": 0, "drawn": 0, "nsp": 0}
    in_flight = min(in_flight, player1.at_once, player2.at_once)
    for start in range(0, EPISODES, in_flight):
        batch = jobs[start : start + in_flight]
        games = play_batch(game, (player1, player2), batch, seed=seed, turns_until_tau0=turns_until_tau0)
        for g in games:
            points[player1.name].append(g.score)
            points[player2.name].append(1 - g.score)
            winner = {1.0: player1.name, 0.5: "drawn", 0.0: player2.name}[g.score]
            scores[winner] += 1
            sp_scores["drawn" if g.score == 0.5 else "sp" if (g.score == 1) == g.first_began else "nsp"] += 1
            logger.info("game %d: %s, moves %s", g.index, winner, " ".join(game.move_name(a) for a in g.moves))
            if memory is not None:
                memory.commit_stmemory(g.record)
        if report is not None:
            report(min(start + in_flight, EPISODES))
    return MatchResult(scores, memory, points, sp_scores)


def playMatchesBetweenVersions(
    session: Session,
    run_version: int,
    player1version: int,
    player2version: int,
    EPISODES: int,
    logger: logging.Logger,
    turns_until_tau0: int = 0,
    goes_first: int = 0,
) -> MatchResult:
    """Play versions of a run against each other; -1 is a person at the console."""
    players = [session.version_player(v, run=run_version, name=f"player{i}") for i, v in
               enumerate((player1version, player2version), 1)]  # fmt: skip
    plies = 0 if -1 in (player1version, player2version) else session.config.opening_plies
    return playMatches(
        session.game, players[0], players[1], EPISODES, logger, turns_until_tau0, None, goes_first,
        seed=session.config.seed, opening_plies=plies,
    )  # fmt: skip


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

    kept: moves at the beginning that nobody takes back; the opening's unless told.
    """
    index, opening, first = job
    kept = len(opening) if kept is None else kept
    seeds = _chance(seed, index, 0), _chance(seed, index, 1)
    table = _seated(game, players, opening, first, seeds)
    while not table.is_over:
        number = table.to_move()
        player = players[number]
        try:
            tau = 1.0 if len(table.moves) < turns_until_tau0 else 0.0
            action, pi, value, _ = player.act(table.state, tau)
        except TakeBack:
            before, table = table, _taken_back(table, kept, number, seeds)
            if table is before and isinstance(player, User):
                player.say("There is no move of yours to take back.")
            continue
        except Resigned:
            table.resigned = number
            break
        table.play(action, *(player.searched or (pi, value)), number)
        if watch is not None:
            watch(table.state, player, action)
    return table.finish(job)


def _seated(
    game: Game, players: tuple[Player, Player], moves: Sequence[int], first: bool, seeds: tuple[int, int]
) -> _Table:
    """Return a game in which these moves have been played."""
    for player, seed in zip(players, seeds, strict=True):
        player.new_games(1)
        player.new_game(0, seed)
    return _Table(game, moves, first, players, 0)


def _taken_back(table: _Table, kept: int, number: int, seeds: tuple[int, int]) -> _Table:
    """Return the game before the last move of the player who asks, before the last of all among people; unchanged when
    there is none."""
    moves, state = table.moves, table.game.start()
    people = all(player.is_person for player in table.players)
    own = []
    for ply, action in enumerate(moves):
        if ply >= kept and (people or int((state.playerTurn == 1) != table.first) == number):
            own.append(ply)
        state = state.takeAction(action)[0]
    return _seated(table.game, table.players, moves[: own[-1]], table.first, seeds) if own else table


# ---- matches with a verdict


def contest(
    game: Game,
    players: tuple[Player, Player],
    total: int,
    *,
    seed: int,
    opening_plies: int,
    over: Callable[[list[float]], bool] = lambda scores: False,
    every: int = 64,
    batch: int = 0,
    known: dict[int, float] | None = None,
    keep: Callable[[list[MatchGame]], None] = lambda games: None,
    report: Callable[[int], None] = lambda done: None,
) -> list[float]:
    """Play pairs of games, both colours of each seeded opening, until `over`; return the scores of player 1.

    At most `total` games, fewer where the game has not so many openings: no game is played twice. `over` is asked
    after every `every` games; where `batch` are more, so many are played side by side, and those after the game that
    decided count for nothing. `known` holds scores of games already played; `keep` is given the new ones.
    """
    scores = dict(known or {})
    opened = openings(game, total // 2, plies=opening_plies, seed=seed)
    total, end, at_once = 2 * len(opened), 0, min(player.at_once for player in players)
    while end < total:
        start, end = end, min(end + max(every, batch), total)
        jobs = [(i, opened[i // 2], i % 2 == 0) for i in range(start, end) if i not in scores]
        for first in range(0, len(jobs), at_once):
            before = end - len(jobs) + first
            part = jobs[first : first + at_once]

            def told(count: int, before: int = before) -> None:
                report(before + count)

            games = play_batch(game, players, part, seed=seed, report=told)
            keep(games)
            scores.update({g.index: g.score for g in games})
        for look in (*range(start + every, end, every), end):
            if over([scores[i] for i in range(look)]):
                return [scores[i] for i in range(look)]
    return [scores[i] for i in range(end)]


def tournament(
    game: Game,
    current: Player,
    best: Player,
    config: Config,
    *,
    seed: int,
    known: dict[int, float] | None = None,
    keep: Callable[[list[MatchGame]], None] = lambda games: None,
    report: Callable[[int], None] = lambda done: None,
) -> Verdict:
    """Play current against best, both colours of each seeded opening, until the rule decides.

    `known` holds scores of games already played; `keep` is given the new ones a batch at a time.
    """
    sequential = config.promotion == "sprt"

    def judge(scores: list[float], final: bool) -> Verdict | None:
        if sequential:
            return judge_sprt(scores, config.sprt_score, final)
        return judge_threshold(scores, config.scoring_threshold) if final else None

    scores = contest(
        game, (current, best), config.eval_episodes, seed=seed, opening_plies=config.opening_plies,
        over=lambda scores: judge(scores, False) is not None, every=32, batch=SIDE_BY_SIDE, known=known, keep=keep,
        report=report,
    )  # fmt: skip
    verdict = judge(scores, True)
    if verdict is None:
        raise RuntimeError("expected a verdict after the last game")
    return verdict
