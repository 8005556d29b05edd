"""Games of others to be taken into a run: played once, and as a file of `export-games`."""

import functools
import io

import numpy as np

from storage.game_exchange import games_to_bytes
from support.search_cases import GAMES, Projection
from support.tiny_runs import tiny
from training.selfplay import SelfPlay, game_seed

ABOUT = {"game": "tictactoe", "rules": "", "run": "tictactoe/0"}


@functools.cache
def records_of(name):
    """Return twelve games of a game of search_cases.py, in order."""
    return games_of(GAMES[name], 12)


def games_of(game, count):
    """Return games of self-play, in order."""
    jobs = [(i, game_seed("others", 1, i)) for i in range(count)]
    found = SelfPlay(game, tiny(full_search_share=0.5)).play(Projection(game), jobs)
    return sorted(found, key=lambda r: r.index)


@functools.cache
def file():
    """Return the bytes of a file with those of tic-tac-toe."""
    return games_to_bytes(GAMES["tictactoe"], ABOUT, [(1, r) for r in records_of("tictactoe")])


def equal(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("moves", "visits", "values")) and (
        one.result == other.result
    )


def remade(change, compress=False):
    """Return the file with some members changed: {name: array, or None to leave it out}."""
    with np.load(io.BytesIO(file()), allow_pickle=False) as loaded:
        arrays = {**{name: loaded[name] for name in loaded.files}, **change}
    arrays = {name: a for name, a in arrays.items() if a is not None}
    buffer = io.BytesIO()
    (np.savez_compressed if compress else np.savez)(buffer, **arrays)
    return buffer.getvalue()
