"""Playing at the console."""

from __future__ import annotations

import datetime
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent import Agent, Player, Quit, User
from config import UserError
from console.turn import COLUMNS, board_text
from evaluation.match import play_alone
from game import Game, GameState
from games.line_of_moves import after_moves
from interface.explain import as_text, explain
from interface.review_words import percent
from interface.side_names import marks, points
from languages.translate import tr
from players.book import BookPlayer
from players.by_name import make_player
from storage.game_files import PERSON, Record, check_place, save
from system.shell import as_word, join
from system.terminal import columns_for, columns_of, has_colours, width_of

HINTED = 10
"""Moves in the table of a hint: with all of a large board's the best ones, which come first, leave the terminal."""


class _Seated(User):
    """A person at the console who sees the first position before anything is compiled, and not a second time."""

    seen = ""

    def __init__(self, name: str, game: Game, **options: Any) -> None:
        super().__init__(name, game, **options)
        self.warn: Callable[[GameState, int], str] = lambda state, action: ""
        """Says what is bad about a move, once; "" lets it be played."""

    def act(self, state: GameState, tau: float) -> tuple[int, Any, float, float]:
        while text := self.warn(state, (found := super().act(state, tau))[0]):
            self.say(text)
        return found

    def say(self, text: str) -> None:
        if text != self.seen:
            super().say(text)
        self.seen = ""


def play_console(
    game: Game, against: str, sims: int, human_first: bool, opening: Sequence[int], *,
    save_to: Path | None = None, overwrite: bool = False, teach: bool = False,
) -> int:  # fmt: skip
    """Play one game, a person against a player, and save it, finished or not; return the exit code."""
    if not 1 <= sims <= 1_000_000:
        raise UserError(f"sims: expected a whole number from 1 to 1,000,000, got {sims}")
    state = after_moves(game, list(opening))
    drawn = board_text(game, state.render(), colours=has_colours(sys.stdout))
    at_once = not opening and sys.stdout.isatty()  # before anything is compiled
    if at_once:
        print(drawn, flush=True)
    if state.isEndGame:
        raise UserError(f"expected a position to play in, the game is over\n{state.render()}")
    if save_to is not None:
        check_place(save_to, game, overwrite=overwrite)
    machine = make_player(against, game, sims=sims)
    person = _Seated(PERSON, game, hint=lambda state: _hint(machine, state))
    person.seen = drawn if at_once else ""
    if teach:
        from interface.teaching import warner

        person.warn = warner(game)
    side = marks(game)[1 if human_first else -1]
    print(tr("{game}: you are {side}, against {player}", game=game.name, side=side, player=machine.name))
    width = COLUMNS if game.aim.isascii() else COLUMNS // 2
    print(*textwrap.wrap(game.aim, width), sep="\n", end="\n" * bool(game.aim))
    result = None
    try:
        result = _play(game, person, machine, human_first, opening)
    finally:
        if save_to is not None and not person.moves:
            print(tr("No move was played, so nothing is saved."))
        elif save_to is not None:
            players = (person.name, machine.name) if human_first else (machine.name, person.name)
            date, why = datetime.date.today().isoformat(), machine.forfeit(0)
            save(save_to, Record(game, person.moves, result, players, date, forfeit=why))
            print(tr("The game is saved in {file}.", file=save_to))
            of = ["--game", game.spec] if save_to.suffix.lower() == ".txt" else []
            if result is None:
                command = f"python main.py {join(['play', '--load', as_word(save_to), *of])}"
                print(tr("`{command}` continues it.", command=command))
            else:
                command = f"python main.py {join(['review', as_word(save_to), *of])}"
                print(tr("`{command}` reviews it.", command=command))
    return 0


def _play(game: Game, person: User, machine: Player, human_first: bool, opening: Sequence[int]) -> float | None:
    """Return the result for who began; None when the person leaves."""
    try:
        played = play_alone(
            game, (person, machine), (0, list(opening), human_first), seed=_fresh_seed(), kept=0,
            watch=_tell(machine, person),
        )  # fmt: skip
    except Quit:
        print("\n" + tr("The game is abandoned."))
        return None
    end = after_moves(game, played.moves)
    print(person.drawn(end))
    for line in points(game, end, marks(game)):
        print(line)
    words = {1.0: tr("You win."), 0.5: tr("A draw."), 0.0: tr("You lose.")}[played.score]
    if machine.is_person and played.record.result:
        words = tr("{side} wins.", side=game.pieces[1 if played.record.result > 0 else -1])
    if played.forfeit:
        print(tr("{player} loses by forfeit: {reason}", player=machine.name, reason=played.forfeit))
    print(words, tr("Moves: {moves}", moves=" ".join(game.move_name(a) for a in played.moves)))
    return float(played.record.result)


def _fresh_seed() -> int:
    import secrets

    return secrets.randbits(31)


def _hint(machine: Player, state: GameState) -> str:
    thinker: Any = machine.player if isinstance(machine, BookPlayer) else machine
    if not isinstance(thinker, Agent):
        thinker = _adviser(machine.game)
    if not isinstance(thinker, Agent):
        return tr("{player} gives no hints.", player=machine.name)
    found = explain(thinker, state)
    found["moves"] = found["moves"][:HINTED]
    return as_text(found, state, columns_for(sys.stdout)).split("\n\n", 1)[1]


@lru_cache(1)
def _adviser(game: Game) -> Any:
    """Return who gives the hints against an opponent that does not search with a network."""
    from interface.teaching import thinker_of

    return thinker_of(game)


def _tell(machine: Player, person: User) -> Any:
    """Return what is called after each move: it shows the person's move on the board, and says the machine's."""

    def tell(state: GameState, player: Player, action: int) -> None:
        if player is not machine:
            if not machine.is_person and not state.isEndGame:
                print(person.drawn(state), flush=True)
            return
        if machine.is_person:
            return
        move = machine.game.move_name(action)
        text = tr("{player} plays {move}", player=machine.name, move=move)
        more = ""
        if isinstance(machine, Agent) and machine.MCTS is not None and not state.isEndGame:
            root = machine.MCTS.root
            after = dict(root.edges)[action].outNode
            line = [action, *(machine.MCTS.principal_variation(after) if after else [])]
            moves = [machine.game.move_name(a) for a in line]
            text += f"  ({outlook(root.Q)})"
            more = _expected(root.visits, moves, width_of(sys.stdout) - 1)
        print(text, flush=True)
        if more:
            print(more, flush=True)

    return tell


def _expected(simulations: int, moves: list[str], width: int) -> str:
    """Return what a search expects, with as many of its moves as a line has room for, the first at least."""
    for count in range(len(moves), 0, -1):
        line = " ".join(moves[:count])
        text = "  " + (tr("1 simulation; it expects {moves}", moves=line) if simulations == 1 else
                       tr("{count} simulations; it expects {moves}", count=simulations, moves=line))  # fmt: skip
        if columns_of(text) <= width:
            break
    return text


def outlook(value: float) -> str:
    """Return a value in words, for the player that it is given for; a draw counts as half a win.

    >>> outlook(0.62)
    'it expects to win: 81 %, value +0.62 of -1 to 1'
    """
    if abs(value) == 1.0:
        return tr("it has won: every reply is proven to lose") if value > 0 else tr("it has lost if you play right")
    shown = min(max(value, -0.99), 0.99)
    return tr("it expects to win: {share} %, value {value} of -1 to 1", share=percent(50 + 50 * value),
              value=f"{shown:+.2f}")  # fmt: skip
