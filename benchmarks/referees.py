"""Measures a player against referees that players of its game respect, each with the same openings: a row for RESULTS.

    python benchmarks/referees.py --game othello [--player shipped] [--sims 400] [--games 20] [--plies 3] [--levels 2 3]

The referees of a game are of growing strength, numbered from 1; --levels chooses some, --referee names another one. A
game that one side loses by rule (its program fails, or moves illegally) counts as lost, and is named. --save keeps the
games, a file for each referee. GNU Go and GRhino are Debian's packages gnugo and grhino.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import games
from agent import Player
from config import UserError
from evaluation.match import MatchGame, contest, forfeit_words, forfeits_of
from evaluation.openings import different
from evaluation.rating import rate, score_of
from game import Game
from players.by_name import make_player
from storage.game_files import Record, append

REFEREES = {
    "hex": [f"circuit:{plies}" for plies in (1, 2, 3, 4)],
    "othello": [
        f"gtp:gtp-rhino -b 0 -m {middle} -w {end + 2} -e {end}" for middle, end in ((2, 8), (4, 12), (6, 14), (8, 16))
    ],
    "go": [
        f"gtp:gnugo --mode gtp --level {level} --chinese-rules --never-resign --capture-all-dead"
        for level in (1, 5, 10)
    ],
}
"""Weakest first. circuit: alpha-beta over circuits, its depth in plies; GRhino: plies in the midgame, exact from the
last ones on; GNU Go: its levels."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="othello", help="hex, othello or go, with a size if it is not the usual one")
    parser.add_argument("--player", default="shipped")
    parser.add_argument("--sims", type=int, default=400, help="simulations a move of a network")
    parser.add_argument("--games", type=int, default=20, help="games against each, even: both colours of each opening")
    parser.add_argument("--plies", type=int, default=2, help="random moves of an opening")
    parser.add_argument("--levels", type=int, nargs="*", default=[], help="numbers of the referees; all by default")
    parser.add_argument("--referee", help="another player, such as gtp:PROGRAM")
    parser.add_argument("--root", type=Path, help="folder of runs")
    parser.add_argument("--save", type=Path, help="folder for the games")
    options = parser.parse_args()
    try:
        game, claims = games.make(options.game), []
        player = make_player(options.player, game, sims=options.sims, root=options.root)
        for number, name in [(0, options.referee)] if options.referee else chosen(game, options.levels):
            played = play(game, (player, make_player(name, game)), options.games, options.plies)
            print(result_of(game, name, played), flush=True)
            claims.append(f"`{name}`: {figure_of(played)}")
            if options.save:
                save(options.save, game, (player.name, name), number, played)
    except UserError as error:
        sys.exit(f"{error}")
    command = f"python benchmarks/referees.py {shlex.join(sys.argv[1:])}"
    print(
        f"| {game.spec}: {player.name}, {options.sims} simulations, against referees | {'; '.join(claims)} |"
        f" M | `{command}` | date | commit | log |"
    )


def chosen(game: Game, levels: Sequence[int]) -> list[tuple[int, str]]:
    """Return (number, name) of a game's referees, those with these numbers or all."""
    found = REFEREES.get(game.name, [])
    if not found or not set(levels) <= set(range(1, len(found) + 1)):
        known = f"{', '.join(REFEREES)}" if not found else f"levels from 1 to {len(found)}"
        raise UserError(f"expected {known}, got {game.spec if not found else levels}")
    return [(number, name) for number, name in enumerate(found, 1) if not levels or number in levels]


def play(game: Game, players: tuple[Player, Player], count: int, plies: int) -> list[MatchGame]:
    """Return the games of a match; the openings depend on the game, their number and their length alone."""
    played: list[MatchGame] = []
    contest(game, players, count, seed=0, opening_plies=plies, keep=played.extend)
    return played


def figure_of(played: Sequence[MatchGame]) -> str:
    """Return what the games prove, games lost by rule counted as lost, as RESULTS has it."""
    total = rate([g.score for g in played])
    low, high = score_of(total.low), score_of(total.high)
    text = f"{total.wins} won, {total.draws} drawn, {total.losses} lost"
    text += f": score {100 * total.mean:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"
    return text + (f" ({forfeit_words(sum(forfeits_of(played)), len(played))})" if any(forfeits_of(played)) else "")


def result_of(game: Game, name: str, played: Sequence[MatchGame]) -> str:
    """Return a report of some lines: the figure, each side, what was lost by rule, seconds a move."""
    lines = [f"{name}: {figure_of(played)}; {different(game, [g.moves for g in played])} different games"]
    for word, began in (("beginning", True), ("second", False)):
        scores = [g.score for g in played if g.first_began == began]
        lines.append(f"  {word}: {scores.count(1.0)} won, {scores.count(0.5)} drawn, {scores.count(0.0)} lost")
    lost = [
        f"game {g.index + 1} lost by {'the player' if g.score == 0 else name}: {g.forfeit}" for g in played if g.forfeit
    ]
    lines += [f"  {line}" for line in lost]
    ours, theirs = (seconds_of(game, played, number) for number in range(2))
    lines.append(f"  {ours:.3f} s a move, the referee {theirs:.3f} s")
    return "\n".join(lines)


def seconds_of(game: Game, played: Sequence[MatchGame], number: int) -> float:
    """Return the mean time of the moves of one side, 0 for the player measured."""
    found = []
    for g in played:
        state: Any = game.start()
        for i, move in enumerate(g.moves):
            if i >= len(g.opening) and i < len(g.seconds) and int((state.playerTurn == 1) != g.first_began) == number:
                found.append(g.seconds[i])
            state = state.takeAction(move)[0]
    return sum(found) / max(len(found), 1)


def save(folder: Path, game: Game, names: tuple[str, str], number: int, played: Sequence[MatchGame]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    append(
        folder / f"{game.name}-{number}.jsonl",
        (
            Record(
                game,
                g.moves,
                g.record.result + 0.0,
                (names[not g.first_began], names[g.first_began]),
                "",
                seconds=g.seconds,
                forfeit=g.forfeit,
            )
            for g in played
        ),
    )


if __name__ == "__main__":
    main()
