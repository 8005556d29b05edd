"""Players by name: best, current, version0007, run0002:best, random, rollout:5000, rollout:2s, uct:1000, human."""

from __future__ import annotations

import difflib
import logging
import re
from pathlib import Path
from typing import Any

from agent import Agent, Player, User
from config import Config, UserError
from game import Game
from games.own import digest
from runs import ARCHIVE, find_run, read_config, read_weights, runs_of
from storage import Store

FORMS = (
    "best, current, version0007, run0002:best, run0002:version0007, random, rollout:5000, rollout:2s, uct:1000, human"
)
_NETWORK = re.compile(r"(run(?P<run>[0-9]{1,6}):)?(?P<which>best|current|version(?P<version>[0-9]{1,6}))\Z")
_ROLLOUT = re.compile(r"rollout:((?P<sims>[1-9][0-9]{0,6})|(?P<seconds>[0-9]{1,4}(\.[0-9]{1,2})?)s)\Z")
_UCT = re.compile(r"uct:([1-9][0-9]{0,7})\Z")


def make_player(name: str, game: Game, *, sims: int = 400, root: Path | None = None, **options: Any) -> Player:
    """Return the player that a name means; raise `UserError` with the forms there are."""
    text = name.strip().lower()
    if text == "random":
        from players import RandomPlayer

        return RandomPlayer(game)
    if text in ("human", "-1"):
        return User("human", game)
    if match := _ROLLOUT.match(text):
        from players.rollout import RolloutPlayer

        if match["sims"]:
            return RolloutPlayer(game, sims=int(match["sims"]))
        if not float(match["seconds"]):
            raise UserError(f"expected more than 0 seconds, got {name!r}")
        return RolloutPlayer(game, seconds=float(match["seconds"]))
    if match := _UCT.match(text):
        from players.uct import UCTPlayer

        return UCTPlayer(game, int(match[1]))
    if match := _NETWORK.match(text):
        run = int(match["run"]) if match["run"] else None
        version = int(match["version"]) if match["version"] else match["which"]
        return network_player(game, run, version, sims=sims, root=root, **options)
    known = ["best", "current", "random", "human", "rollout:5000", "uct:1000"]
    near = difflib.get_close_matches(text, known, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UserError(f"expected a player such as {FORMS}, got {name[:60]!r}{hint}")


def network_player(
    game: Game, run: int | None, version: int | str, *, sims: int = 400, root: Path | None = None, smallest: int = 1,
    **options: Any,
) -> Agent:
    """Return a player with a trained network, of the newest run unless one is named; nothing is written.

    `smallest`: batch size to pad questions to at least; with `backends.STEADY` answers do not depend on the batch.
    """
    from backends import make_predictor
    from model import Residual_CNN

    folder = _folder(game, run, root)
    config = read_config(folder)
    if config.game != game.spec:
        raise UserError(f"{folder.name}: expected a model of {game.spec}, got one of {config.game}")
    store = Store(folder / "run.db", read_only=True)
    try:
        made_for = store.get("game")
        if made_for != game.spec:
            raise UserError(f"{folder.name}: expected a model of {game.spec}, got one of {made_for}")
        if store.get("rules", "") != digest(game):
            logging.getLogger("alphazero.lineup").warning("the rules have changed since %s learned them", folder.name)
        number = {"best": store.best(), "current": store.versions()[-1][0]}.get(str(version), version)
        model = Residual_CNN(config, game)
        shapes = [w.shape for w in model.get_weights()]
        model.set_weights(read_weights(folder, store, int(number), shapes))
    finally:
        store.close()
    settings = {"cpuct": config.cpuct, "fpu_reduction": config.fpu_reduction, "prove": config.proofs}
    settings["look_ahead"] = config.look_ahead
    settings |= {"mcts_sims": sims, **options}
    predictor = make_predictor(model, backend=config.backend, smallest=smallest)
    return Agent(f"{folder.name}:version{int(number):04}", game, predictor, model=model, **settings)


def trained_config(game: Game, run: int | None = None, root: Path | None = None) -> Config:
    """Return the settings of the run that `network_player` would take."""
    return read_config(_folder(game, run, root))


def _folder(game: Game, run: int | None, root: Path | None) -> Path:
    if run is not None or runs_of(game.spec, root):
        return find_run(game.spec, run, root)
    if runs_of(game.spec, ARCHIVE):
        return find_run(game.spec, None, ARCHIVE)
    command = f"python main.py --game '{game.spec}'"
    raise UserError(f"expected a trained run of {game.spec}, there is none; `{command}` makes one")
