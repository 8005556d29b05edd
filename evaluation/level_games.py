"""Levels of play are measured: each meets its neighbours, one maximum-likelihood fit rates all, random moves at Elo 0.

Games of networks depend on the pair, the seed and the processor only, so `match level:4 level:3` plays them again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from pathlib import Path

from evaluation.match import contest
from evaluation.rating import fit_ratings
from game import Game
from network.predictor import STEADY
from players.by_name import level_player
from players.levels import NAMES, USUAL, Level, names_of
from storage.atomic_files import write_file
from system.reading import TEXT_BYTES, read_limited

GAMES_FILE = "level_games.json"
LINKS = tuple(Level(player, 0, 0.0, 0.0) for player in ("random", "rollout:4", "rollout:16"))
"""Players between random moves and the lowest level, which would win nearly all games against them."""
FURTHER = tuple(Level(f"rollout:{sims}", 0, 0.0, 0.0) for sims in (64, 256, 1024))
"""More of them, each where the lowest level wins nearly all games against the one before, too."""
NEARLY_ALL = 0.9
"""Score above which games tell little about how far two players are apart."""
LADDER = (
    *(Level("net:shipped", 0, 0.0, 0.0, 6.0, slips=slips) for slips in (0.9, 0.7, 0.45, 0.2)),
    *(Level("net:shipped", 0, 0.0, 0.0, temperature) for temperature in (6.0, 4.0, 3.0, 2.0, 1.4, 1.0)),
    *(Level("shipped", 16, 0.0, 0.0, temperature) for temperature in (8.0, 2.0, 1.3, 0.8, 0.0)),
    *(Level("shipped", sims, 0.0, 0.0) for sims in (64, 400)),
)
"""Candidates for levels of a network of any strength, about in order of strength, before they are measured."""
APART, FAR = 100.0, 300.0
"""Smallest Elo difference between two levels, and the largest that more names would not make smaller."""
NEXT = 4
"""A level plays this many times as many games against a neighbour as against a neighbour's neighbour."""
CHEAP = 4
"""Players that take next to no time play this many times as many games."""
MARKS = {0.0: "0", 0.5: "=", 1.0: "1"}
Say = Callable[[str], None]
Games = dict[tuple[str, str], list[float]]
"""{(player, other): scores of the player, in order}; the players as `Level.how` names them."""


def measure_levels(
    game: Game, *, count: int, plies: int = 2, seed: int = 0, ladder: Sequence[Level] = LADDER,
    file: Path | None = None, report: Say = lambda text: None,
) -> list[Level]:  # fmt: skip
    """Return levels at least `APART` from each other, weakest first, with names and Elo.

    count: games of each pair of neighbours, both colours of each opening. In `file` games are kept, and found again
    after a stop.
    """
    known = read_games(file) if file is not None and file.exists() else {}
    played: Games = {}

    def score(weaker: Level, stronger: Level, number: int) -> float:
        key = stronger.how, weaker.how
        if key not in played:
            played[key] = known.get(key, [])
            if len(played[key]) < number:
                played[key] = _match(game, stronger, weaker, number, plies, seed)
                if file is not None:
                    write_games(file, known | played)
            report(f"{key[0]} against {key[1]}: {sum(played[key]):g} of {len(played[key])}")
        return sum(played[key]) / len(played[key])

    links = [*LINKS]
    for further in FURTHER:
        if score(links[-1], ladder[0], games_against(ladder[0], count)) <= NEARLY_ALL:
            break
        links.append(further)
    for weaker, stronger, number in pairs(ladder, count, links):
        score(weaker, stronger, number)
    if file is not None:
        write_games(file, played)
    return chosen(rated(ladder, played), played)


def pairs(ladder: Sequence[Level], count: int, links: Sequence[Level] = LINKS) -> Iterator[tuple[Level, Level, int]]:
    """Yield (weaker, stronger, games): neighbours, and neighbours of neighbours with fewer games; more in `links`.

    A network without a search, whose games take next to no time, plays `CHEAP` times as many.
    """
    line = [*links, *ladder]
    for i, weaker in enumerate(line):
        for distance, stronger in enumerate(line[i + 1 : i + 3], 1):
            number = games_against(stronger, count)
            if i < len(links) - 1:
                number = CHEAP * count
            elif distance > 1:
                number = max(number // NEXT // 2 * 2, 2)
            yield weaker, stronger, number


def games_against(level: Level, count: int) -> int:
    """Return how many games a level plays against the one below."""
    return CHEAP * count if level.player == "net:shipped" else count


def rated(ladder: Sequence[Level], played: Games) -> list[Level]:
    """Return the levels with the Elo of their games, weakest first; perfect players draw, so of equals the later one
    counts as stronger."""
    found = fit_ratings(_results(played), LINKS[0].how)
    levels = [level._replace(elo=float(round(found[level.how].elo))) for level in ladder]
    return sorted(levels, key=lambda level: level.elo)


def chosen(levels: Sequence[Level], played: Games) -> list[Level]:
    """Return levels that are `APART`, the strongest among them, at most one for each name, with names and errors."""
    kept: list[Level] = []
    for level in reversed(levels):
        if not kept or kept[0].elo - level.elo >= APART:
            kept.insert(0, level)
    kept = _few_of(kept)
    below, found = LINKS[0], []
    for level, name in zip(kept, names_of(len(kept)), strict=True):
        error = fit_ratings(_results(played), below.how)[level.how].error
        found.append(level._replace(error=float(round(error)), name=name))
        below = level
    return found


def _few_of(levels: list[Level]) -> list[Level]:
    """Return the usual number of levels, and more where neighbours would be `FAR` apart; as even as there are any."""
    for count in range(USUAL, min(len(NAMES), len(levels) - 1) + 1):
        inner = combinations(levels[1:-1], count - 2)
        few = min(([levels[0], *between, levels[-1]] for between in inner), key=_unevenness)
        if count == len(NAMES) or max(upper.elo - lower.elo for lower, upper in pairwise(few)) <= FAR:
            return few
    return levels


def _unevenness(levels: Sequence[Level]) -> float:
    """Return the sum of the squares of the distances between neighbours; the least is that of equal distances."""
    return sum((upper.elo - lower.elo) ** 2 for lower, upper in pairwise(levels))


def _results(played: Games) -> list[tuple[str, str, float, float]]:
    return [(*key, sum(scores), float(len(scores))) for key, scores in played.items()]


def _match(game: Game, first: Level, second: Level, count: int, plies: int, seed: int) -> list[float]:
    """Return the scores of the first player; both colours of each opening."""
    one, two = (level_player(level, game, smallest=STEADY) for level in (first, second))
    return contest(game, (one, two), count, seed=seed, opening_plies=plies)


def read_games(file: Path) -> Games:
    """Return the games in a file."""
    marks = {mark: score for score, mark in MARKS.items()}
    rows = json.loads(read_limited(file, TEXT_BYTES))["pairs"]
    return {(row["player"], row["other"]): [marks[mark] for mark in row["scores"]] for row in rows}


def write_games(file: Path, played: Games) -> None:
    """Write games: for each pair a mark for each game in order, 1 won by `player`, 0 lost, = drawn."""
    rows = [
        {"player": player, "other": other, "games": len(scores), "points": sum(scores),
         "scores": "".join(MARKS[score] for score in scores)}
        for (player, other), scores in played.items()
    ]  # fmt: skip
    write_file(file, (json.dumps({"pairs": rows}, indent=1) + "\n").encode())
