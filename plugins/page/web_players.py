"""Players for the page: made from names on its lists, one network for all tabs, searches that can be stopped.

Networks are loaded when first needed; each seat has a tree of its own. A network evaluates for one thread at a time.
"""

from __future__ import annotations

import math
import re
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import games
from agent import Agent, Player
from config import UserError
from game import Game, GameState
from games.own import digest
from games.sizes import largest_of
from interface.explain import describe, opinion
from languages.translate import tr
from MCTS import MCTS, Node
from players.alphabeta import AlphaBetaPlayer
from players.by_name import TREES_BYTES, make_player
from players.levels import AS_MEASURED, NETWORKS, Level, find_level, read_levels
from players.network_alone import PolicyPlayer
from players.opinion import opinion_of
from players.rollout import RolloutPlayer
from players.runs_of_many_sizes import family_runs
from players.tempered import of_level
from players.uct import spiel_name
from plugins.page.run_reader import game_spec, metrics, readable, reading
from search.tables import ENDLESS
from storage import run_folders
from storage.run_folders import RUN, folders_in, runs_in, runs_of

KEPT = 6
"""Networks in memory at once."""
DEEPEST = 20_000
"""Largest number of simulations of a search that the page shows."""
PLIES = 60
"""Most plies of alpha-beta."""
SECONDS = 60.0
"""Most seconds of a search."""
GAMES = (
    "connect4", "tictactoe", "gomoku", "gomoku(rule=renju,size=15)", "othello", "othello(size=6)", "go",
    "go(komi=7,size=9)", "littlego", "hex(size=7)", "hex", "hex(swap=yes)", "metasquares(size=8)",
    "metasquares",
)  # fmt: skip
"""Offered even without a run of them."""


class OneAtATime:
    """A predictor that several threads may call: one after the other, and each gets arrays of its own."""

    def __init__(self, predictor: Any) -> None:
        self._predictor, self._lock = predictor, threading.Lock()

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with self._lock:
            values, logits = self._predictor(planes)
            return np.array(values), np.array(logits)


class Roster:
    """The players that can be chosen, and the networks in memory. Safe to use from several threads."""

    def __init__(self, named: tuple[str, ...] = ()) -> None:
        self.named = named
        """The games of the command line: where they are files, these files may be run."""
        self._networks: OrderedDict[tuple[str, str, str], Agent] = OrderedDict()
        """By game with its rules, run and the version's sha256: another run may get the same name."""
        self._loading = threading.Lock()

    def games(self) -> list[str]:
        """Return the names of games: those of the command line, those with runs, then the usual ones."""
        found = []
        for folder in named_runs().values():
            with suppress(UserError):
                found.append(game_spec(folder, self.named))
        return list(dict.fromkeys([*self.named, *found, *GAMES]))

    def find(self, spec: str) -> Game:
        """Return the game of a name, of several sizes the largest; raise `UserError` for one that must not be made.

        Anybody's address may name a game, so that a file of rules is run only if the command line named it.
        """
        return largest_of(games.make(spec, typed=spec in self.named))

    def players(self, spec: str) -> dict[str, str]:
        """Return {name: displayed text} of the players of a game."""
        named = {
            "random": tr("Random moves"), "greedy": tr("Greedy: one move ahead"),
            "rollout": tr("Rollouts"), "alphabeta": tr("Alpha-beta"),
        }  # fmt: skip
        game = make_game(spec)
        if _installed("pyspiel") and spiel_name(game) is not None:
            named["uct"] = "OpenSpiel's UCT"
        solved_at_once = game.solvable is not None and game.solvable.whole
        if not game.origin and (solved_at_once or (game.exact_solver and _installed(game.exact_solver))):
            named["solver"] = tr("Perfect play")
        for number, level in enumerate(_levels(spec), 1):
            called = tr(level.name) if level.name else tr("level {number}", number=number)
            named[f"level:{number}"] = f"{called} (Elo {level.elo:.0f})"
        for name, folder in runs_by_name(spec).items():
            versions = _versions(folder)
            if versions is None:
                continue
            best, numbers = versions
            named[f"{name}:best"] = tr("{name}: best (version {number})", name=name, number=best)
            for number in reversed(numbers):
                named[f"{name}:version{number:04}"] = tr("{name}: version {number}", name=name, number=number)
        return named

    def networks(self, spec: str) -> list[str]:
        """Return the names of the networks that can play a game, newest run first, early versions last."""
        found = []
        for name, folder in (runs_by_name(spec) | early_runs(spec)).items():
            versions = _versions(folder)
            if versions is not None:
                found += [f"{name}:best", *(f"{name}:version{number:04}" for number in reversed(versions[1]))]
        return found

    def digest_of(self, name: str, game: Game) -> str:
        """Return what says which network a name means now; "" for other players."""
        try:
            folder, _, digest_of_file = self._found(name, game)
        except UserError:
            return ""
        return f"{folder} {digest_of_file}"

    def _found(self, name: str, game: Game) -> tuple[Path, int, str]:
        """Return (run, version, sha256 of its file) of a network's name; raise `UserError` if it is none."""
        run, _, which = name.partition(":")
        folder = (runs_by_name(game.spec) | early_runs(game.spec)).get(run)
        versions = _versions(folder) if folder else None
        if folder is None or versions is None or not re.fullmatch("best|version[0-9]{4,6}", which, re.ASCII):
            raise UserError(f"expected a run of {game.spec}, got {name[:40]!r}")
        number = versions[0] if which == "best" else int(which.removeprefix("version"))
        with reading(folder) as store:
            return folder, number, store.version(number).sha256

    def strongest(self, spec: str, players: dict[str, str] | None = None) -> str:
        """Return the name of the strongest network that there is for a game, whatever was trained last.

        What ships stays the strongest until the scoreboard of another run has measured more Elo than the scoreboard of
        the shipped one, by more than both errors together (their intervals are of 95 %). Where nothing ships it is the
        run with the most Elo, the newest one where nothing was measured. Untrained networks, version 0, come after the
        others, and rollouts where there is no network. players: as `players` returned them.
        """
        names = {name: text for name, text in (players or self.players(spec)).items() if name.endswith(":best")}
        learned = [name for name in names if not names[name].endswith("(version 0)")] or list(names)
        if not learned:
            return "rollout"
        folders = runs_by_name(spec)
        elo = {name: measured(folders[name.removesuffix(":best")]) for name in learned}
        found = max(learned, key=lambda name: elo[name][0])  # of equals the first, which is the newest
        ships = next((name for name in learned if name.startswith(SHIPS)), found)
        better = elo[found][0] - elo[ships][0] > math.hypot(elo[found][1], elo[ships][1]) and elo[ships][0] > -math.inf
        return found if better else ships

    def make(self, name: str, game: Game, level: str) -> Player:
        """Make a player of a game for one seat only. May take seconds when a network is loaded.

        level: see `budget`; of no meaning for a player that takes none.
        """
        if name in ("random", "greedy", "solver"):
            return make_player(name, game)
        if name.startswith("level:"):
            player = self._level(find_level(game.spec, int(name.removeprefix("level:"))), game)
        elif name in ("rollout", "uct", "alphabeta"):
            player = make_player(f"{name}:{level}", game)
        elif level.endswith("s"):
            player = self._network(name, game).twin(game, ENDLESS, seconds=float(level[:-1]), tree_bytes=TREES_BYTES)
        else:
            player = self._network(name, game).twin(game, int(level))
        player.new_game(0, secrets.randbits(31))
        return player

    def _level(self, level: Level, game: Game) -> Player:
        """Return the player of a level; networks are those of all tabs."""
        if level.player not in NETWORKS:
            return make_player(level.player, game)
        network = self._network(f"{SHIPS}run0001:best", game).twin(game, max(level.sims, 1), **AS_MEASURED)
        return of_level(level, network)

    def analyst(self, name: str, game: Game, sims: int) -> Agent | RolloutPlayer:
        """Return a player whose search can be shown, with room for some simulations."""
        if name == "rollout":
            player = RolloutPlayer(game, sims=sims)
            player.new_game(0, 0)
            return player
        network = self._network(name, game)
        twin = network.twin(game, sims)
        twin.model = network.model
        return twin

    def _network(self, name: str, game: Game) -> Agent:
        folder, number, digest_of_file = self._found(name, game)
        key = (game.spec + digest(game), name.partition(":")[0], digest_of_file)
        with self._loading:
            if key not in self._networks:
                with readable(folder):
                    agent = make_player(f"{folder.name}:version{number:04}", game, root=folder.parent.parent)
                if not isinstance(agent, Agent):
                    raise UserError(f"expected a network, got {name[:40]!r}")
                agent.predictor = OneAtATime(agent.predictor)
                self._networks[key] = agent
            self._networks.move_to_end(key)
            while len(self._networks) > KEPT:
                self._networks.popitem(last=False)
            return self._networks[key]


SHIPS, EARLY = "shipped/", "early/"
"""Prefixes of runs that come with the program, players and early versions: they can be looked at and played against,
but never changed."""


def prefix_of(name: str) -> str:
    """Return the prefix of a run's name, "" for a run of the user's.

    >>> prefix_of("early/connect4/run0001"), prefix_of("connect4/run0001")
    ('early/', '')
    """
    return next((prefix for prefix in (SHIPS, EARLY) if name.startswith(prefix)), "")


def named_runs() -> dict[str, Path]:
    """Return {name: folder} of all runs, those of a game together, newest first; those of the program come last."""
    named: dict[str, Path] = {}
    for root, before in ((run_folders.RUNS, ""), (run_folders.EARLY, EARLY), (run_folders.SHIPPED, SHIPS)):
        found = [p for folder in folders_in(root) for p in runs_in(folder)]
        found = [p for p in found if (p / "config.json").exists() and (p / "run.db").exists()]
        found.sort(key=lambda p: (p.parent.name, -int(p.name[3:])))
        named |= {f"{before}{p.parent.name}/{p.name}": p for p in found}
    return named


def runs_by_name(spec: str) -> dict[str, Path]:
    """Return {name: folder} of the runs of a game, newest first, then those that ship.

    Where there are none of the very game, those whose networks play it on boards of any size.
    """
    mine, theirs = run_folders.RUNS, run_folders.SHIPPED
    own, ships = runs_of(spec, mine), runs_of(spec, theirs)
    if not own or not ships:
        game = make_game(spec)
        own, ships = own or family_runs(game, mine), ships or family_runs(game, theirs)
    return {f"{before}{folder.name}": folder for before, found in (("", own), (SHIPS, ships)) for folder in found[::-1]}


def early_runs(spec: str) -> dict[str, Path]:
    """Return {name: folder} of the early versions of a game, which are no players of the lists."""
    return {f"{EARLY}{folder.name}": folder for folder in runs_of(spec, run_folders.EARLY)}


def _levels(spec: str) -> list[Level]:
    """Return the levels of a game; none if their file cannot be read."""
    try:
        return read_levels(spec)
    except UserError:
        return []


def measured(folder: Path) -> tuple[float, float]:
    """Return (Elo, half its 95 % interval) of a run's best network by its scoreboard, -inf if it was not measured.

    The Elo is relative to `rollout:16` for every run. Where the best version itself was not measured, the newest is.
    """
    lines = [m for m in metrics(folder) if is_number(m.get("score_elo")) and is_number(m.get("score_elo_error"))]
    of_best = [m for m in lines if m.get("version") == m.get("best_version")]
    if not lines:
        return -math.inf, 0.0
    line = of_best[-1] if of_best and of_best[-1]["version"] == lines[-1].get("best_version") else lines[-1]
    return float(line["score_elo"]), float(line["score_elo_error"])


def is_number(value: Any) -> bool:
    """Return whether a value of a file is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9


def _versions(folder: Path) -> tuple[int, list[int]] | None:
    """Return (best version, all versions) of a run; None if it has none that can be read."""
    with suppress(UserError), reading(folder) as store:
        numbers = [row[0] for row in store.versions()]
        return (store.best(), numbers) if numbers else None
    return None


@cache
def _installed(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


def budgets(name: str) -> dict[str, tuple[float, float]]:
    """Return {"sims", "plies" or "seconds": (least, most)} of the budgets that a player takes.

    >>> list(budgets("alphabeta")), list(budgets("uct")), list(budgets("greedy"))
    (['plies', 'seconds'], ['sims'], [])
    """
    seconds = {"seconds": (0.01, SECONDS)}
    if name == "alphabeta":
        return {"plies": (1, PLIES), **seconds}
    if name == "uct":
        return {"sims": (1, DEEPEST)}
    return {"sims": (1, DEEPEST), **seconds} if is_search(name) else {}


def budget(name: str, plies: int | None = None, sims: int | None = None, seconds: float | None = None) -> str:
    """Return a player's budget as players' names have it, such as "400" or "1.50s": the usual one where none is given.

    Raises `UserError` for seconds or plies of a player that takes none.

    >>> budget("rollout"), budget("alphabeta"), budget("alphabeta", seconds=2), budget("greedy")
    ('400', '4', '2.00s', '')
    """
    takes = budgets(name)
    for unit, given in (("plies", plies), ("seconds", seconds)):
        if given is not None and unit not in takes:
            raise UserError(f"{unit}: expected {' or '.join(takes) or 'no budget'} for {name[:40]!r}, got {given:g}")
    if seconds is not None:
        return f"{seconds:.2f}s"
    if not takes:
        return ""
    return str(plies or 4) if "plies" in takes else str(sims or 400)


def is_search(name: str) -> bool:
    """Return whether a player's search can be shown, see `Roster.analyst`."""
    return name == "rollout" or RUN.match(name.removeprefix(prefix_of(name)).partition(":")[0]) is not None


def choose(
    player: Player, level: str, state: GameState, moves: Sequence[int], stop: Callable[[], bool], *, lots: bool = False,
    until: float = math.inf,
) -> tuple[int, float | None] | None:
    """Return (move, its value for the player to move, None if the player gives none); None when stopped.

    level: see `budget`; "" for the player's own budget. moves: those that led to the state. lots: a network's search
    draws its move in proportion to the visits. until: `time.monotonic()` at which it ends and plays what it found.
    """
    player.deadline = until
    if isinstance(player, Agent):
        player.think(state, stop=stop)
        if stop():
            return None
        pi, values = player.getAV(1)
        action, value = player.chooseAction(pi, values, 1 if lots else 0)
        return action, value
    if isinstance(player, RolloutPlayer) and not level.endswith("s"):
        player.think(state, int(level) if level else None, lambda: stop() or time.monotonic() > until)
        if stop():
            return None
    elif isinstance(player, RolloutPlayer):
        player.stopped = stop
    else:
        if isinstance(player, AlphaBetaPlayer):
            player.stopped = stop
        player.new_games(1)
        player.new_game(0, time.monotonic_ns() % 2**31)
        for move in moves:
            player.observe(0, move)
    action, _, value, _ = player.act(state, 1 if lots and isinstance(player, PolicyPlayer) else 0)
    return None if stop() else (action, opinion_of(player, value))


def look(
    analyst: Agent | RolloutPlayer, state: GameState, sims: int, *, stop: Callable[[], bool] = lambda: False,
    watch: Callable[[dict[str, Any]], None] | None = None, every: float = 0.3,
) -> dict[str, Any]:
    """Search a position up to `sims` simulations; return `explain.describe` of it. `watch` sees results on the way.

    `every`: seconds from when a result was shown to the next one, so that a slow display costs the search no more than
    its share of the time.

    A tree that has the position as its root is continued, any other is dropped first: then the numbers are those of
    `python main.py explain`.
    """
    mcts = tree_of(analyst)
    if mcts is not None and (len(mcts) == 0 or mcts.root.id != state.id):
        mcts.clear()
        mcts.clear_cache()
    shown_at = time.monotonic()

    def looking() -> bool:
        nonlocal shown_at
        if stop():
            return True
        tree = tree_of(analyst)
        if watch is None or tree is None or not tree.root.visits:
            return False
        if time.monotonic() - shown_at > every:
            watch(found(analyst, tree.root))
            shown_at = time.monotonic()
        return False

    return found(analyst, analyst.think(state, min(sims, DEEPEST), looking))


def tree_of(analyst: Agent | RolloutPlayer) -> MCTS | None:
    """Return the tree of a player's search, None before the first one."""
    return analyst.MCTS if isinstance(analyst, Agent) else analyst.trees(0)[0]


def found(analyst: Agent | RolloutPlayer, node: Node) -> dict[str, Any]:
    """Return the search's result at a node; rollouts have no network, so no values of one."""
    if isinstance(analyst, Agent):
        return describe(node, analyst.name, opinion(analyst, node))
    result = describe(node, "rollouts")
    result["network_value"] = None
    for line in result["moves"]:
        line["V"] = None
    return result


def make_game(spec: str) -> Game:
    """Return a game with its own tables: a game in plain Python must not be shared between threads."""
    return games.make(spec)
