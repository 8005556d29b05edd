"""Play a match of two players, and print what its games prove."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config import UserError
from interface.arguments import Positional, early, parse, whole, with_plugin_options
from interface.commands import show_compiling
from system.shell import as_word, join, quoted

if TYPE_CHECKING:
    from agent import Player
    from evaluation.match import MatchGame, MatchMachines
    from evaluation.promotion import SprtState
    from game import Game

EXAMPLES = {
    "python main.py match best rollout:1000 --games 40": "your best network against rollouts",
    "python main.py match best run0002:best --sprt": "stop when it is clear who is better",
    "python main.py match best solver --save games.jsonl": "keep the games; `replay` shows them",
}


@with_plugin_options
@dataclass(frozen=True)
class Match:
    """Let two players play, both colours of each seeded opening, each once. Ctrl-C ends it with a report."""

    player1: Positional[str]
    """PLAYERS; see docs/play.md and `levels`."""
    player2: Positional[str]
    """The same."""
    game: str = "connect4"
    games: int = 100
    """Number of games, even; with --sprt the largest number."""
    sims: int = 400
    """Simulations per move of a network; a level has its own."""
    opening_plies: int = 2
    """Random moves that open each pair of games; more if they give too few different openings."""
    even_by: str = ""
    """Of the random openings play those that this player holds for even, with --sims: a value from -0.25 to 0.25. For
    games in which most openings are won for one side, as in gomoku on 15x15."""
    seed: int = 0
    """Random seed; the same gives the same games."""
    sprt: bool = False
    """Stop as soon as a sequential test has decided between two scores of player 1, both errors 5 %."""
    sprt_score: tuple[float, float] = (0.5, 0.55)
    """The two scores."""
    sprt_elo: tuple[float, float] = (0.0, 35.0)
    """The same as Elo differences."""
    save: str = ""
    """Write the games to this file, a line each (.jsonl) or as a collection (.sgf), batch by batch; `replay` shows
    them. Where games are played one after the other, it also has the seconds of each move."""
    overwrite: bool = False
    """Replace that file if it exists."""
    json: bool = False
    """Print the result as JSON."""

    def machines(self, game: Game, say: Callable[[str], None]) -> AbstractContextManager[MatchMachines | None]:
        """Return the other machines that play the games, connected while the block lasts; None = there are none.

        A plugin may replace it, with options of its own. say: shows a line to the user.
        """
        return nullcontext()


def run(argv: list[str]) -> int:
    args = parse(Match, argv)
    whole(args.games, "games", 2, 100_000)
    if args.games % 2:
        raise UserError(f"games: expected an even number, both colours of each opening, got {args.games}")
    whole(args.sims, "sims", 1, 1_000_000)
    whole(args.opening_plies, "opening_plies", 0, 100)
    whole(args.seed, "seed", 0, 2**31 - 1)
    claims = _claims(args, argv)
    show_compiling("search")
    import games
    from agent import User
    from evaluation.game_contract import checked
    from games.sizes import largest_of
    from loggers import Console
    from network.predictor import STEADY
    from players.book import BookPlayer
    from players.by_name import make_player, one_at_a_time
    from storage import game_files

    game, place = checked(largest_of(games.make(args.game))), Path(args.save)
    if args.save:
        game_files.check_place(place, game, overwrite=args.overwrite, forms=(game_files.LINES, ".sgf"))
    names = args.player1, args.player2
    judge = _judge(args, game) if args.even_by else None
    smallest = 1 if any(map(one_at_a_time, names)) else STEADY  # no game may depend on the games next to it
    players = tuple(make_player(name, game, sims=args.sims, smallest=smallest) for name in names)
    if players[0].name == players[1].name:
        for number, player in enumerate(players, 1):
            player.name = f"{player.name} ({number})"
    for player in players:
        person = player.player if isinstance(player, BookPlayer) else player
        if isinstance(person, User) and args.json:
            person.output = sys.stderr  # standard output is for the result
    made = bool(args.save) and not place.exists()
    if made:
        game_files.append(place, ())  # fails now, before hours of games, if it cannot be written
    saved: list[MatchGame] = []
    try:
        with args.machines(game, Console(quiet=args.json).warn) as machines:
            if machines is not None:
                for player, name in zip(players, names, strict=True):
                    machines.know(player, name, args.sims)
            opened = _even(game, judge, args) if judge is not None else None
            played, stopped, fault = _play(game, players, args, claims, machines, saved, opened)
    finally:
        if made and not saved:
            place.unlink(missing_ok=True)
    if played:
        _tell(_result(game, players, played, claims, stopped, args), args, len(saved))
    if fault is not None:
        raise fault
    if not played:
        print("stopped before a pair of games was finished: nothing to report", file=sys.stderr)
    return 130 if stopped else 0


def _claims(args: Match, argv: list[str]) -> tuple[float, float] | None:
    """Return the two scores between which a sequential test decides; None without a test."""
    by_elo = early(argv, "sprt_elo") is not None
    if not args.sprt:
        if by_elo or early(argv, "sprt_score") is not None:
            raise UserError("expected --sprt together with --sprt-score or --sprt-elo")
        return None
    if by_elo and early(argv, "sprt_score") is not None:
        raise UserError("expected --sprt-score or --sprt-elo, got both")
    low, high = args.sprt_elo if by_elo else args.sprt_score
    from evaluation.rating import score_of

    name, least, most = ("sprt_elo", -2000, 2000) if by_elo else ("sprt_score", 0.001, 0.999)
    if not least <= low < high <= most:
        raise UserError(f"{name}: expected two rising numbers from {least} to {most}, got {low:g} {high:g}")
    return (score_of(low), score_of(high)) if by_elo else (low, high)


def _judge(args: Match, game: Game) -> Player:
    """Return the player that chooses the openings."""
    from network.predictor import STEADY
    from players.book import BookPlayer
    from players.by_name import make_player

    judge = make_player(args.even_by, game, sims=args.sims, smallest=STEADY)
    if not judge.judges or judge.is_person or isinstance(judge, BookPlayer):
        raise UserError(f"even_by: expected a player that has values of its own, as shipped or rollout:5000, got "
                        f"{args.even_by}")
    return judge


def _even(game: Game, judge: Player, args: Match) -> list[list[int]]:
    """Return the openings that a player holds for even, at least one."""
    from evaluation.openings import even_openings
    from loggers import Console

    with Console(quiet=args.json).phase("even openings", args.games // 2) as phase:
        found = even_openings(
            game, args.games // 2, judge, plies=args.opening_plies, seed=args.seed, report=phase.update
        )
    if not found:
        raise UserError(f"even_by: of the random openings of --opening-plies {args.opening_plies} {judge.name} holds "
                        f"none for even: give other plies")
    return found


LOOK = 32
"""Games between two checks of a sequential test: with more checks its errors grow if scores are far from a half."""


def _play(
    game: Game, players: tuple[Player, ...], args: Match, claims: tuple[float, float] | None,
    machines: MatchMachines | None, saved: list[MatchGame], opened: list[list[int]] | None = None,
) -> tuple[list[MatchGame], bool, UserError | None]:  # fmt: skip
    """Return the games played, in complete pairs; whether the match was stopped; and the error, if one stopped it.

    saved: gets those that are on the disk. opened: openings, in place of random ones.
    """
    from agent import Quit
    from evaluation.match import contest
    from evaluation.promotion import sprt
    from evaluation.rating import rate
    from loggers import Console

    played: list[MatchGame] = []
    one_by_one = min(p.at_once for p in players) == 1
    console = Console(quiet=args.json)

    def keep(games: list[MatchGame]) -> None:
        played.extend(games)
        if args.save:
            _save(Path(args.save), game, players, games, afresh=not saved)
            saved.extend(games)

    def over(scores: list[float]) -> bool:
        return claims is not None and len(scores) % LOOK == 0 and sprt(scores, *claims).accepted is not None

    def report(done: int) -> None:
        so_far = rate([g.score for g in played]) if played else None
        phase.update(done, **({"score": so_far.mean, "elo": so_far.elo} if so_far else {}))

    try:
        with console.phase("match", args.games) as phase:
            contest(
                game, (players[0], players[1]), args.games, seed=args.seed, opening_plies=args.opening_plies,
                opened=opened, over=over, every=2 if one_by_one else LOOK if claims else 64, keep=keep, report=report,
                batch=machines.batch if machines and claims is None else 0, play=machines.play if machines else None,
            )  # fmt: skip
    except (KeyboardInterrupt, Quit):
        return played[: len(played) // 2 * 2], True, None
    except UserError as error:  # the disk is full, a player's program has died
        return played[: len(played) // 2 * 2], True, error
    return played, False, None


def _save(place: Path, game: Game, players: tuple[Player, ...], games: list[MatchGame], *, afresh: bool) -> None:
    """Write games to a file; afresh: in place of what it holds."""
    import datetime

    from storage.game_files import Record, append

    names, today = [player.name for player in players], datetime.date.today().isoformat()
    append(place, (
        Record(game, g.moves, g.record.result + 0.0, (names[not g.first_began], names[g.first_began]), today,
               seconds=g.seconds, forfeit=g.forfeit)
        for g in games  # + 0.0: a draw is never -0.0
    ), afresh=afresh)  # fmt: skip


def _result(
    game: Game, players: tuple[Player, ...], played: list[MatchGame], claims: tuple[float, float] | None, stopped: bool,
    args: Match,
) -> dict[str, Any]:  # fmt: skip
    """Return what the games prove, as plain values; scores are of player 1."""
    from evaluation.match import forfeits_of, too_many_forfeits
    from evaluation.openings import different
    from evaluation.promotion import sprt
    from evaluation.rating import rate

    scores = [g.score for g in played]
    forfeits = forfeits_of(played)
    rest = rate(without) if (without := _without_forfeits(played)) and sum(forfeits) else None
    total, evidence = rate(scores), None
    sides: dict[str, dict[str, int]] = {}
    for name, began in (("as_first", True), ("as_second", False)):
        found = Counter(g.score for g in played if g.first_began == began)
        sides[name] = {"wins": found[1.0], "draws": found[0.5], "losses": found[0.0]}
    first_wins = sides["as_first"]["wins"] + sides["as_second"]["losses"]
    values: dict[str, Any] = {
        "game": game.spec, "player1": players[0].name, "player2": players[1].name, "games": total.games,
        "different_games": different(game, [g.moves for g in played]), "wins": total.wins, "draws": total.draws,
        "losses": total.losses, "score": total.mean, "elo": _finite(total.elo), "elo_low": _finite(total.low),
        "elo_high": _finite(total.high), **sides, "first_wins": first_wins,
        "second_wins": total.wins + total.losses - first_wins, "stopped": stopped,
        "asked": args.games, "opening_plies": len(played[0].opening), "even_by": args.even_by or None,
        "forfeits": {"player1": forfeits[0], "player2": forfeits[1]},
        "forfeited": [{"game": i, "lost_by": 1 if g.score == 0 else 2, "reason": g.forfeit}
                      for i, g in enumerate(played, 1) if g.forfeit],
        "without_forfeits": None if rest is None else {
            "games": rest.games, "wins": rest.wins, "draws": rest.draws, "losses": rest.losses, "score": rest.mean,
            "elo": _finite(rest.elo), "elo_low": _finite(rest.low), "elo_high": _finite(rest.high),
        },
        "measures_play": not too_many_forfeits(sum(forfeits), total.games),
    }  # fmt: skip
    if claims is not None:
        evidence = sprt(scores, *claims)
        values["sprt"] = {
            "scores": list(claims), "evidence": evidence.ratio, "low": evidence.low, "high": evidence.high,
            "accepted": None if evidence.accepted is None else claims[evidence.accepted],
        }  # fmt: skip
    return values | {"words": _words(total, values, claims, evidence, rest)}


def _without_forfeits(played: list[MatchGame]) -> list[float]:
    """Return the scores of the games that nobody lost by rule, those first whose pair is complete."""
    left = {g.index: g.score for g in played if not g.forfeit}
    return [left[i] for i in sorted(left, key=lambda i: (i ^ 1 not in left, i))]


def _finite(value: float) -> float | None:
    return value if abs(value) < 1e9 else None


def _words(
    total: Any, values: dict[str, Any], claims: tuple[float, float] | None, found: SprtState | None, rest: Any
) -> list[str]:
    from evaluation.match import forfeit_words

    first, second = values["as_first"], values["as_second"]
    lines = [f"{values['player1']} against {values['player2']}: {total}"]
    for name, side in (("beginning", first), ("going second", second)):
        lines.append(f"  {name:<13}{side['wins']} won, {side['draws']} drawn, {side['losses']} lost")
    if by := sum(values["forfeits"].values()):
        lines.append(f"  {forfeit_words(by, values['games'])}")
        lost = [f"{n} lost by {values[name]}" for name, n in values["forfeits"].items() if n]
        lines.append(f"  {', '.join(lost)}; without them: {'no games' if rest is None else rest}")
    plies = values["opening_plies"]
    lines.append(f"  the player who began won {values['first_wins']}, the other {values['second_wins']}, "
                 f"drawn {values['draws']}; {values['different_games']} different games up to symmetry")  # fmt: skip
    early = found is not None and found.accepted is not None and values["games"] < values["asked"]
    of = "is narrower than one of 95 %: the match ended when it was decided" if early else "is of 95 %"
    even = f" that {values['even_by']} holds for even" if values["even_by"] else ""
    lines.append(f"  openings of {plies} random {'ply' if plies == 1 else 'plies'}{even}; the interval {of}")
    if claims is not None and found is not None:
        decided = "undecided" if found.accepted is None else (
            f"accepts a score of {claims[found.accepted]:.3f} against one of {claims[not found.accepted]:.3f}"
        )  # fmt: skip
        lines.append(f"  sequential test: {decided} (evidence {found.ratio:+.2f}, decided at {found.low:+.2f} or "
                     f"{found.high:+.2f})")  # fmt: skip
    if values["games"] < values["asked"] and not values["stopped"] and (found is None or found.accepted is None):
        which = "that differ and are even" if values["even_by"] else "that differ"
        lines.append(f"  {values['games']} of {values['asked']} games: there are no more openings {which}")
    if values["stopped"]:
        lines.append("  stopped before its end; games of a batch that was not finished are not counted")
    return lines


def _tell(values: dict[str, Any], args: Match, saved: int) -> None:
    """Print a result; saved: how many games are in the file, all but after an error."""
    import json

    words = values.pop("words")
    if args.save:
        values["saved"] = saved
    if saved:
        own = f" --game {quoted(args.game)}" if ".py" in args.game else ""  # its file is run, so it has to be typed
        replay = f"python main.py replay {join([as_word(args.save)])} --game-number 1{own}"
        which = "the games" if saved >= values["games"] else f"the first {saved} games"
        words.append(f"  {which} are in {args.save}; `{replay}` shows one")
    print(json.dumps(values) if args.json else "\n".join(words))
