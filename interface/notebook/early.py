"""Early versions that ship, for a notebook: a run that is only looked at."""

from __future__ import annotations

from agent import Agent
from config import UserError
from evaluation.milestones import network_of
from game import Game
from storage import run_folders
from storage.run_folders import runs_of
from storage.run_store import Store


class EarlyVersions:
    """The versions of a training that ships; `views.versions` and `Milestones` take it as they take a session."""

    def __init__(self, game: Game) -> None:
        """Raise `UserError` where none of the game ship."""
        found = runs_of(game.spec, run_folders.EARLY)
        if not found:
            raise UserError(f"expected a game whose early versions ship, such as connect4, got {game.spec}")
        self.game, self._folder = game, found[-1]
        self.store = Store(self._folder / "run.db", read_only=True)

    def agent(self, version: int, *, role: str = "", sims: int = 1) -> Agent:
        """Return a version as a player; role: as `Session.agent` has it, without meaning here."""
        return network_of(self._folder, version, self.game)

    def __repr__(self) -> str:
        numbers = [row.version for row in self.store.versions()]
        return f"{len(numbers)} versions of {self.game.spec}: {', '.join(map(str, numbers))}"
