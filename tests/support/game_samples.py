"""Games to be written to files: every kind there is, and random games of them."""


import numpy as np

import games
from games.returned_values import make_bounds
from games.tictactoe import TicTacToe
from search.rollouts import playouts
from search.tables import TREE
from storage import game_files
from storage.game_files import Record
from support.corridor import Corridor
from support.perft import first_win


class Points(TicTacToe):
    """A game on points that SGF knows."""

    sgf_number = 4


class Lanes(Corridor):
    """A board that is not square, with passes and two turns in a row."""

    sgf_number = 1


WANTED = ("connect4", "connect4(rows=4,columns=12)", "tictactoe", "gomoku", "gomoku(size=15,rule=renju)", "go",
          "go(size=9,komi=7.5,ko=superko)", "littlego", "othello", "othello(size=6)",
          "metasquares(size=6)", "hex(size=4)", "hex(size=6,swap=yes)")  # fmt: skip
GAMES = {spec: games.make(spec) for spec in WANTED if spec.split("(")[0] in games.names()}
GAMES |= {"points": Points(), "lanes": Lanes()}
FORMS = [(spec, form) for spec, game in GAMES.items() for form in game_files.FORMS if form != ".sgf" or game.sgf_number]


def played(game, seed, *, whole=True):
    """Return a record of a random game, cut anywhere unless it shall be whole."""
    rng, state, moves = np.random.default_rng(seed), game.start(), []
    while not state.isEndGame:
        moves.append(int(rng.choice(state.allowedActions)))
        state = state.takeAction(moves[-1])[0]
    result = state.value * state.playerTurn
    if not whole:
        moves, result = moves[: 1 + int(rng.integers(len(moves) - 1))], None
    return Record(game, moves, result, ("Ann ] \\ (;", "Žofie, 100 %"), "2026-02-28")


def end_of(record):
    state = record.game.start()
    for action in record.moves:
        state = state.takeAction(action)[0]
    return state


def crowded_line(game, rng, wide):
    """Positions of a game in which a win at once is left alone as long as another move is there."""
    line = [game.start()]
    while not line[-1].isEndGame:
        state = line[-1]
        legal = np.array(state.allowedActions)
        near = [a for a in legal if abs(int(a) - game.action_size // 2) < wide] or legal
        action = int(rng.choice(near))
        if action == first_win(state):
            action = int(rng.choice(legal))
        line.append(state.takeAction(action)[0])
    return line[:-1]


def means(state, count, seed, rules=None):
    """The mean value for who began of random games from a position."""
    game = state.game
    trees = np.zeros(1, TREE)
    trees["rng"] = seed
    rows, legal = np.stack([state.row, state.row]), np.zeros(game.action_size, np.int32)
    return playouts(rules or game.rules, trees, rows, count, legal, np.zeros(1, np.float32), make_bounds(game)) / count
