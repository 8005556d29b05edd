"""Playing at the console."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agent import Agent, Player, Quit, User
from config import UserError
from evaluation.match import play_alone
from game import Game, GameState
from games.line_of_moves import after_moves
from interface.explain import as_text, explain, simulations
from players.book import BookPlayer
from players.by_name import make_player
from storage.game_files import PERSON, Record, check_place, save


class _Scribe(User):
    """A person at the console whose valid moves are recorded, so that they survive leaving the game."""

    def __init__(self, name: str, game: Game, **options: Any) -> None:
        super().__init__(name, game, **options)
        self.moves: list[int] = []
        self.drawn = ""
        """The position on the screen before the first turn; it is not drawn again."""
        self.warn: Callable[[GameState, int], str] = lambda state, action: ""
        """Says what is bad about a move, once; "" lets it be played."""

    def act(self, state: GameState, tau: float) -> tuple[int, Any, float, float]:
        while text := self.warn(state, (found := super().act(state, tau))[0]):
            self.say(text)
        return found

    def say(self, text: str) -> None:
        if text != self.drawn:
            super().say(text)
        self.drawn = ""

    def new_game(self, slot: int, seed: int) -> None:
        self.moves = []

    def observe(self, slot: int, action: int) -> None:
        self.moves.append(action)


def play_console(
    game: Game, against: str, sims: int, human_first: bool, opening: Sequence[int], *,
    save_to: Path | None = None, overwrite: bool = False, teach: bool = False,
) -> int:  # fmt: skip
    """Play one game, a person against a player, and save it, finished or not; return the exit code."""
    if not 1 <= sims <= 1_000_000:
        raise UserError(f"sims: expected a whole number from 1 to 1,000,000, got {sims}")
    state = after_moves(game, list(opening))
    drawn = state.render()
    at_once = not opening and sys.stdout.isatty()  # before anything is compiled
    if at_once:
        print(drawn, flush=True)
    if state.isEndGame:
        raise UserError(f"expected a position to play in, the game is over\n{state.render()}")
    if save_to is not None:
        check_place(save_to, game, overwrite=overwrite)
    machine = make_player(against, game, sims=sims)
    person = _Scribe(PERSON, game, hint=lambda state: _hint(machine, state))
    person.drawn = drawn if at_once else ""
    if teach:
        from interface.teaching import warner

        person.warn = warner(game)
    print(f"{game.name}: you are {game.pieces[1 if human_first else -1]}, against {machine.name}")
    result = None
    try:
        result = _play(game, person, machine, human_first, opening)
    finally:
        if save_to is not None and not person.moves:
            print("No move was played, so nothing is saved.")
        elif save_to is not None:
            players = (person.name, machine.name) if human_first else (machine.name, person.name)
            save(save_to, Record(game, person.moves, result, players, datetime.date.today().isoformat()))
            print(f"The game is saved in {save_to}.")
    return 0


def _play(game: Game, person: User, machine: Player, human_first: bool, opening: Sequence[int]) -> float | None:
    """Return the result for who began; None when the person leaves."""
    try:
        played = play_alone(
            game, (person, machine), (0, list(opening), human_first), seed=_fresh_seed(), watch=_tell(machine), kept=0
        )
    except Quit:
        print("\nThe game is abandoned.")
        return None
    print(after_moves(game, played.moves).render())
    words = {1.0: "You win.", 0.5: "A draw.", 0.0: "You lose."}[played.score]
    if machine.is_person and played.record.result:
        words = f"{game.pieces[1 if played.record.result > 0 else -1]} wins."
    print(f"{words} Moves: {' '.join(game.move_name(a) for a in played.moves)}")
    return float(played.record.result)


def _fresh_seed() -> int:
    import secrets

    return secrets.randbits(31)


def _hint(machine: Player, state: GameState) -> str:
    thinker = machine.player if isinstance(machine, BookPlayer) else machine
    if not isinstance(thinker, Agent):
        return f"{machine.name} gives no hints."
    found = explain(thinker, state)
    return as_text(found, state).split("\n\n", 1)[1]


def _tell(machine: Player) -> Any:
    def tell(state: GameState, player: Player, action: int) -> None:
        if player is not machine or machine.is_person:
            return
        text = f"{machine.name} plays {machine.game.move_name(action)}"
        if isinstance(machine, Agent) and machine.MCTS is not None:
            root = machine.MCTS.root
            after = dict(root.edges)[action].outNode
            line = [action, *(machine.MCTS.principal_variation(after) if after else [])]
            expected = " ".join(machine.game.move_name(a) for a in line)
            text += f"  (value for it {root.Q:+.3f}, {simulations(root.visits)}, expects {expected})"
        print(text, flush=True)

    return tell
