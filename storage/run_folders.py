"""Run folders: where they are, which exist, and what can be read of a run without opening it for work."""

from __future__ import annotations

import hashlib
import logging
import os
import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import games
from config import Config, UserError, differences, from_json, is_fixed
from game import Game
from games.sizes import family, other_sizes, others
from storage.atomic_files import DamagedData, Unwritable, writing
from storage.run_files import RunBusy as RunBusy
from storage.run_files import RunFiles
from storage.run_store import Store
from system.place import HERE, PREFIX
from system.reading import TEXT_BYTES, read_limited
from system.shell import quoted

RUNS = Path(os.environ.get("ALPHAZERO_RUNS") or ("run" if PREFIX else HERE / "run"))
"""The folder of all runs: an installed program keeps them in the folder that it works in."""
SHIPPED = HERE / "run_archive"
"""The players that ship: one run per game, without its games."""
EARLY = HERE / "early_versions"
"""Runs that ship to be looked at, one per game: early versions, each with a few of its games."""
RUN = re.compile(r"run([0-9]{4,6})\Z")
_LOGGER = logging.getLogger("alphazero.run_folders")


def game_folder(spec: str) -> str:
    """Return a game's folder name: letters, digits and hyphens, different for every game.

    A run of several sizes may go on with others, so that all ranges have one folder.

    >>> game_folder("connect4(rows=5)"), game_folder("gomoku(size=7..15)")
    ('connect4-rows-5', 'gomoku-size-many')
    """
    spec = family(spec)
    plain = re.fullmatch(r"(open_spiel:)?\w+(\((\w+=[\w.]+,?)+\))?", spec, re.ASCII) and len(spec) <= 100
    shown = spec if plain else re.split(r"[/\\]", spec)[-1].replace(".py:", "-")[:60]
    name = re.sub(r"[^A-Za-z0-9]+", "-", shown).strip("-")
    return name if plain else f"{name}-{hashlib.sha256(spec.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def runs_of(spec: str, root: Path | None = None) -> list[Path]:
    """Return the folders of a game's runs, oldest first."""
    begun = runs_in((root or RUNS) / game_folder(spec))
    return [p for p in begun if (p / "config.json").exists() or (p / "run.mark").exists()]


def runs_in(folder: Path) -> list[Path]:
    """Return the folders in a folder that are named as runs, by number; copies under other names are not meant.

    One that this user cannot read is left out, and a line says so.
    """
    found = [p for p in folders_in(folder) if RUN.match(p.name) and not _left_out(unreadable(p))]
    return sorted(found, key=lambda p: int(p.name[3:]))


def folders_in(folder: Path) -> list[Path]:
    """Return what is in a folder; nothing where there is none, or where this user cannot read it, which a line says."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        _left_out(folder)
        return []


def unreadable(folder: Path) -> Path | None:
    """Return what this user cannot read of a run, which another may have made; None if nothing."""
    if not os.access(folder, os.R_OK | os.X_OK):
        return folder
    files = (folder / name for name in ("config.json", "run.mark", "run.db"))
    return next((file for file in files if file.exists() and not os.access(file, os.R_OK)), None)


@cache
def _left_out(place: Path | None) -> bool:
    """Return whether there is such a place, and say once that it is left out."""
    if place is not None:
        _LOGGER.warning("%s is left out: this user cannot read it", _shown(place))
    return place is not None


def _shown(place: Path) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(place))


def shipped_folder(spec: str) -> Path:
    """Return the folder that a game's shipped player has, whether it exists or not."""
    return SHIPPED / game_folder(spec) / "run0001"


def shipped_run(spec: str) -> Path | None:
    """Return the folder of a game's shipped player, or None if there is none."""
    folder = shipped_folder(spec)
    return folder if (folder / "config.json").exists() else None


def make_folder(folder: Path) -> None:
    """Make a run's folder and those above it, for their owner only."""
    make_private(folder / "models")


def make_private(folder: Path) -> None:
    """Make a folder and those above it, as far as they do not exist, for their owner only."""
    with writing(folder):
        for path in (*reversed(folder.parents), folder):
            if path.is_file():
                raise Unwritable(f"expected a folder for runs, got the file {path}")
            path.mkdir(mode=0o700, exist_ok=True)


def new_folder(of_game: Path) -> Path:
    """Create the folder of a new run, for this process alone; a start that was killed half-way keeps its number."""
    make_private(of_game)
    with writing(of_game):
        number = max([int(p.name[3:]) for p in of_game.iterdir() if RUN.match(p.name)], default=0)
        while True:
            number += 1
            folder = of_game / f"run{number:04}"
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:  # another process made it at this moment
                continue
            (folder / "models").mkdir(mode=0o700)
            return folder


def read_config(folder: Path) -> Config:
    """Return the settings of a run, from run.db if config.json is gone; raise `UserError` if neither has them."""
    path = folder / "config.json"
    if not path.exists() and (folder / "run.db").exists():
        store = Store(folder / "run.db", read_only=True)
        try:
            return from_json(store.get("config") or "", str(path))
        finally:
            store.close()
    try:
        text = read_limited(path, TEXT_BYTES).decode()
    except (OSError, UnicodeDecodeError) as error:
        found = error.strerror if isinstance(error, OSError) else "it is no text"
        remedy = f"; {_mend_settings(folder)}" if path.exists() else ""
        raise UserError(f"{path}: expected the settings of a run ({found}){remedy}") from None
    try:
        return from_json(text, str(path))
    except UserError as error:
        raise type(error)(f"{error}; {_mend_settings(folder)}") from None


def _mend_settings(folder: Path) -> str:
    """Return what helps where config.json is wrong: run.db may have the settings, too."""
    taken = ", or `python main.py recover` with this --game and --run takes them from run.db"
    return f"mend it there{taken if _has_settings(folder) else ''}"


def _has_settings(folder: Path) -> bool:
    """Return whether run.db has settings, of the game that the run's folder is for."""
    with suppress(UserError):
        store = Store(folder / "run.db", read_only=True)
        try:
            kept = from_json(store.get("config") or "", "run.db")
        finally:
            store.close()
        return game_folder(kept.game) == folder.absolute().parent.name
    return False


def settings_fault(folder: Path, kept: str | None) -> str:
    """Return which settings that cannot change config.json has other than run.db (`kept`, as JSON), "" for none."""
    try:
        theirs = from_json(kept or "", "run.db")
    except UserError:  # a run of the first format has them in config.json alone
        return ""
    pairs = differences(theirs, read_config(folder))
    wrong = "; ".join(
        f"{name}: the run has {old!r}, got {new!r}"
        for name, (old, new) in pairs.items()
        if is_fixed(name) and not other_sizes(name, old, new) and not (name == "network" and _moved(old, new))
    )
    return f"{folder / 'config.json'}: {wrong}; {_mend_settings(folder)}" if wrong else ""


def _moved(old: str | None, new: str | None) -> bool:
    """Return whether two names of networks differ in their file's folder alone."""
    return old is not None and new is not None and _without_folder(old) == _without_folder(new)


def _without_folder(network: str) -> str:
    return re.split(r"[/\\]", network)[-1]


def settings_of(folder: Path) -> Config:
    """Return the settings of a run; raise `UserError` if they name another game than its folder does."""
    config = read_config(folder)
    if game_folder(config.game) != folder.absolute().parent.name:
        game_of(folder, config)  # another spelling is no other game
    return config


def game_of(folder: Path, config: Config) -> Game:
    """Return the game of a run; raise `UserError` if its settings name another game than its folder does.

    So no file of rules is run because a config.json from others names it.
    """
    named, kept = config.game, folder.absolute().parent.name
    if game_folder(named) == kept:
        return games.make(named)
    with suppress(UserError):
        game = games.make(named, typed=False)
        if game_folder(game.spec) == kept:  # the folder fits another spelling: "connect4( rows=6 )"
            return game
    wrong = f"expected the game of the folder {kept}, got {ascii(named[:100])}"
    remedy = f"; {_mend_settings(folder)}" if _has_settings(folder) else ""  # or the folder may be the wrong one
    raise UserError(f"{folder / 'config.json'}: {wrong}{remedy}")


def find_run(spec: str, number: int | None = None, root: Path | None = None) -> Path:
    """Return the folder of a run: the newest when no number is given; 0 is the one that ships."""
    if number is not None and not 0 <= number <= 999_999:
        raise UserError(f"run: expected a whole number from 0 to 999,999, got {number}")
    if number == 0:
        shipped = shipped_run(spec)
        if shipped is None:
            raise UserError(f"expected a player of {spec} that ships (run 0), there is none")
        return shipped
    found = runs_of(spec, root)
    if number is not None:
        for path in found:
            if int(path.name[3:]) == number:
                return path
    elif found:
        return found[-1]
    of_game = (root or RUNS) / game_folder(spec)
    _require_readable(of_game, number)
    known = ", ".join(p.name for p in found) or "none"
    wanted = "a run" if number is None else f"run{number:04}"
    others = sorted(p.name for p in folders_in(root or RUNS) if os.path.exists(p / "run0001" / "run.db"))
    hint = f"; there are runs of {', '.join(others[:6])} (--game)" if others and not found else ""
    raise UserError(f"expected {wanted} of {spec}, there is {known} in {_shown(of_game)}{hint}")


def _require_readable(of_game: Path, number: int | None) -> None:
    """Raise `UserError` if the runs of a game, or the one that is meant, are there but not for this user to read."""
    fault = of_game if os.path.exists(of_game) and not os.access(of_game, os.R_OK | os.X_OK) else None
    for name in os.listdir(of_game) if fault is None and os.path.isdir(of_game) else ():
        if RUN.match(name) and number in (None, int(name[3:])):
            fault = fault or unreadable(of_game / name)
    if fault is not None:
        raise UserError(f"expected a run that this user can read, got {_shown(fault)}; `ls -ld` names its owner")


def run_to_change(spec: str, number: int | None = None) -> Path:
    """Return the folder of a run that may be changed, by default the newest; the shipped one is read-only."""
    if number == 0:
        raise UserError("run: expected the number of one of your runs, got 0, the player that ships")
    return find_run(spec, number)


def unfinished_run(spec: str, root: Path | None = None) -> Path | None:
    """Return the newest run of a game with iterations left, or None; a run that was recovered counts as finished."""
    over: set[str] = set()
    for path in reversed(runs_of(spec, root)):
        if path.name in over:
            continue
        try:
            if not _finished(path, over):
                return path
        except DamagedData as error:
            raise with_remedy(DamagedData(f"{path.name}: its run.db cannot be read ({error})"), path, spec) from None
    return None


NOTHING = "nothing of the run can be recovered: put back a copy of it, or begin another with --new"
"""What helps where `recover` does not."""


def with_remedy(error: DamagedData, folder: Path, spec: str = "") -> DamagedData:
    """Return an error that also says what helps: the command which recovers the run, where that saves something."""
    if "python main.py recover" in str(error) or NOTHING in str(error) or not RUN.match(folder.name):
        return error
    return type(error)(f"{error}; {remedy(folder, spec)}")


def remedy(folder: Path, spec: str = "") -> str:
    """Return what helps where a run is damaged; `spec`: its game, if its settings may not say it."""
    from storage.recover import require_recoverable

    if SHIPPED in folder.parents:
        return "the project has another copy of it"
    try:
        require_recoverable(folder)
    except UserError as error:
        return NOTHING if NOTHING in str(error) else str(error)
    with suppress(UserError):
        spec = spec or game_of(folder, read_config(folder)).spec
    game = f" --game {quoted(spec)}" if spec else ""
    return f"`python main.py recover{game} --run {int(folder.name[3:])}` saves its undamaged part"


def _finished(folder: Path, over: set[str]) -> bool:
    """Return whether a run is finished; add the run that it was recovered from to `over`."""
    store = Store(folder / "run.db", read_only=True)
    try:
        over.add(store.get("recovered_from") or "")
        return store.get("finished") == "yes"
    finally:
        store.close()


def lock_folder(folder: Path) -> RunFiles:
    """Open and lock a run for this process; raise `RunBusy` naming the process that has it. `close` unlocks it."""
    files = RunFiles(folder)
    try:
        files.lock()
    except BaseException:
        files.close()
        raise
    return files


def lock_new_folder(of_game: Path) -> RunFiles:
    """Create the folder of a new run and lock it for this process; nothing of it is left when that fails."""
    files = RunFiles(new_folder(of_game))
    try:
        files.lock()
    except BaseException:
        files.remove_all()
        files.close()
        raise
    return files


def require_free(folder: Path) -> None:
    """Raise `RunBusy` when another process works on a run."""
    lock_folder(folder).close()


NETWORK = "hidden_cnn_layers", "normalisation", "value_filters", "value_units", "policy_filters", "global_pooling"
"""Settings that determine the network's values and priors."""
EXTRA_HEADS = "ownership_weight", "soft_policy_weight"
"""Settings of heads that only help to learn (`model.extra_heads`): a run may begin with a network without them."""


def with_network_of(config: Config, source: Path) -> Config:
    """Return `config` with another run's network settings: the default of a run that begins with its network."""
    theirs = read_config(source)
    return replace(config, **{n: getattr(theirs, n) for n in NETWORK + EXTRA_HEADS})


def network_facts(config: Config, game: Game) -> dict[str, Any]:
    """Return what a model file must match: the game and the network's shape."""
    facts = {n: getattr(config, n) for n in NETWORK}
    facts["hidden_cnn_layers"] = list(config.hidden_cnn_layers)
    if config.network is not None:
        facts["network"] = _without_folder(config.network)
    if config.many_sizes:  # only what the network depends on
        alike = {"game": family(game.spec), "input_shape": [game.input_shape[2]], "action_size": others(game)}
        return {**alike, **facts, "many_sizes": True}
    return {"game": game.spec, "input_shape": list(game.input_shape), "action_size": game.action_size, **facts}
