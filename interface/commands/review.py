"""Review a saved game: what each move lost, the better move, accuracy of both sides."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from config import UserError
from interface.arguments import Positional, early, parse, whole
from interface.commands import show_compiling
from interface.review_words import counted, exactly, percent, source
from languages.translate import tr
from system.terminal import padded, redraws

if TYPE_CHECKING:
    from evaluation.review import Judged
    from game import Game
    from storage.game_files import Record

EXAMPLES = {
    "python main.py review game.json": "move by move: what it lost, and what was better",
    "python main.py review games.jsonl --game-number 7": "the seventh game of a match",
    "python main.py review game.sgf --sims 1600 --json": "longer searches, one JSON document",
}
WIDEST = 100
"""Columns that the table takes at most."""
COLOURS = {"inaccuracy": "36", "mistake": "33", "blunder": "31"}


@dataclass(frozen=True)
class Review:
    """Review a saved game: what each move lost, the better move and its line, marks, accuracy of both sides."""

    file: Positional[str]
    """A game: .json, .txt, .sgf, .psq, .ggf, .wtb, or one of a match's .jsonl."""
    game_number: int = 1
    """Which game of a file of several, from 1."""
    game: str = ""
    """Game played, as in other commands; needed for .txt, which holds moves only."""
    player: str = ""
    """Who searches where no solver knows: NETWORKS or rollout:N. By default the player that ships, else your best
    network, else rollouts."""
    sims: int = 400
    """Simulations of each search; with rollout:N they are N."""
    seed: int = 0
    json: bool = False
    """Print one JSON document instead of the table."""


def run(argv: list[str]) -> int:
    args = parse(Review, argv)
    sims = whole(_simulations(args, argv), "sims", 1, 1_000_000)
    whole(args.seed, "seed", 0, 2**31 - 1)
    show_compiling("search")
    import games
    from evaluation.game_contract import checked
    from evaluation.review import as_values, review
    from storage.game_files import load_game

    named = checked(games.make(args.game)) if args.game else None
    record = load_game(Path(args.file), whole(args.game_number, "game_number", 1, 10**9), named)
    if not record.moves:
        raise UserError(f"{args.file}: expected a game with moves to review, it has none")
    makes = _Reviewer(args.player or strongest(record.game, sims), sims)
    if args.player:
        makes(record.game)  # a wrong name is an error at once
    found: list[Judged] = []
    table = _Table(record)
    for note in () if args.json else (*record.notes, *table.head()):
        print(note)
    for move in review(record, makes, sims=sims, seed=args.seed):
        found.append(move)
        if not args.json:
            print(table.row(move), flush=True)
    if args.json:
        notes = {"notes": record.notes} if record.notes else {}
        print(json.dumps(as_values(record, found, makes.name) | {"sims": sims, "seed": args.seed} | notes))
        return 0
    print("\n".join(table.end(found, makes.name, sims)))
    return 0


def _simulations(args: Review, argv: list[str]) -> int:
    """Return the simulations of each search, which a player may name; one with a clock would never say twice the same.

    >>> _simulations(Review("game.json", player="rollout:50"), [])
    50
    """
    if re.search(r":[\d.]+s(\+|\Z)", args.player):
        raise UserError(f"expected a player without seconds of its own, got {args.player[:60]!r}; see --sims")
    own = re.fullmatch(r"rollout:(\d+)", args.player)
    if own and early(argv, "sims") is not None:
        raise UserError("expected rollout:N or --sims, got both")
    return int(own[1]) if own else args.sims


def strongest(game: Game, sims: int) -> str:
    """Return the strongest player of a game that searches: the one that ships, else the best network that plays it,
    else rollouts."""
    from players.by_name import NoNetwork, run_folder
    from players.runs_of_many_sizes import family_run
    from storage.run_folders import shipped_run

    if shipped_run(game.spec) is not None or family_run(game, 0) is not None:
        return "shipped"
    try:
        run_folder(game, None)
    except NoNetwork:
        return f"rollout:{sims}"
    return "best"


class _Reviewer:
    """Makes the player that searches, once."""

    def __init__(self, player: str, sims: int) -> None:
        self._player, self._sims = player, sims
        self._made: Any = None

    def __call__(self, game: Any) -> Any:
        from evaluation.review import check_searcher
        from players.by_name import make_player

        if self._made is None:
            self._made = check_searcher(make_player(self._player, game, sims=self._sims))
        return self._made

    @property
    def name(self) -> str:
        """The player's name; "" if no search was needed."""
        return self._made.name if self._made is not None else ""


class _Table:
    """The review as lines of text, no wider than the terminal."""

    def __init__(self, record: Record) -> None:
        from evaluation.review import MARKS

        self._marks, self._record, self._game = MARKS, record, record.game
        self._columns = min(max(shutil.get_terminal_size().columns, 60), WIDEST)
        names = [self._game.move_name(action) for action in record.moves]
        self._wide = min(max(len(f"{max(self._game.pieces.values(), key=len)} {name}") for name in names), 20)
        self._colours = redraws(sys.stdout) and not os.environ.get("NO_COLOR")

    def _who(self, turn: int) -> str:
        name, piece = self._record.players[turn == -1], self._game.pieces[turn]
        return f"{name} ({piece})" if name else piece

    def head(self) -> list[str]:
        """Return who played, and the heads of the columns."""
        game, date = self._game.spec, self._record.date
        words = [tr("move"), tr("best"), tr("played"), tr("loss"), tr("better")]
        columns = f"{'':5} {padded(words[0], self._wide)} {padded(words[1], -6)} {padded(words[2], -6)} "
        who = tr("{first} against {second}", first=self._who(1), second=self._who(-1))
        return [f"{game}: {who}{', ' + date if date else ''}", columns + f"{padded(words[3], -5)}     {words[4]}"]

    def row(self, move: Judged) -> str:
        """Return the line of a move."""
        played = f"{self._game.pieces[move.player]} {self._game.move_name(move.action)}"[: self._wide]
        values = " ".join(padded(self._value(value, exact=move.exact), -6) for value in (move.before, move.after))
        loss = f"{move.loss:.2f}" if move.loss >= 0.005 else "-"
        head = f"{move.ply + 1:>4}. {padded(played, self._wide)} {values} {loss:>5} "
        sign = f"{self._marks[move.mark]:<3}"
        if self._colours and move.mark:
            sign = f"\x1b[1;{COLOURS[move.mark]}m{sign}\x1b[0m"
        room = self._columns - len(head) - 4
        return f"{head}{sign} {self._line(move, room) if move.mark else ''}".rstrip()

    def _value(self, value: float, *, exact: bool) -> str:
        return exactly(value) if exact else f"{value:+.2f}"

    def _line(self, move: Judged, room: int) -> str:
        """Return as many moves of the better line as fit."""
        line = ""
        for action in move.line:
            longer = f"{line} {self._game.move_name(action)}".strip()
            if len(longer) > room:
                break
            line = longer
        return line

    def end(self, moves: list[Judged], player: str, sims: int) -> list[str]:
        """Return accuracy, marks, the turning point with its board, and where the values come from."""
        from evaluation.review import summary
        from games.line_of_moves import after_moves

        total, lines = summary(moves), [""]
        for turn in (1, -1):
            share = total.accuracy[turn]
            words = tr("accuracy {share} %", share=percent(share)) if share is not None else tr("no move with a choice")
            lines.append(f"{self._who(turn)}: {words}, {counted(total.counts[turn], total.lost_throughout[turn])}")
        if total.turning is not None:
            move, game = moves[total.turning], self._game
            before, after = (self._value(value, exact=move.exact) for value in (move.before, move.after))
            lines += ["", after_moves(game, self._record.moves[: move.ply]).render()]
            lines.append(tr(
                "Turning point: {number}. {who} {move}, from {before} to {after}; better {line}", number=move.ply + 1,
                who=game.pieces[move.player], move=game.move_name(move.action), before=before, after=after,
                line=self._line(move, self._columns // 3),
            ))  # fmt: skip
        exact = sum(move.exact for move in moves)
        return [*lines, "", source(exact, len(moves), player, sims)]
