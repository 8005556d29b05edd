"""Players that note what they are asked, a game that nobody wins, and a match with its records."""

import logging

import numpy as np

from agent import Player
from evaluation.match import MatchGame
from funcs import playMatches
from memory import Memory
from players.simple import RandomPlayer
from support.corridor import Corridor, CorridorState

LOG = logging.Logger("test")


class Spy(Player):
    """Plays at random; notes what it is told and asked."""

    def __init__(self, name, game):
        super().__init__(name, game)
        self.inner = RandomPlayer(game)
        self.asked, self.observed = [], []

    def new_game(self, slot, seed):
        self.inner.new_game(slot, seed)
        self.observed.append([])

    def observe(self, slot, action):
        self.observed[-1].append(action)

    def act_many(self, slots, states, taus):
        self.asked += zip(slots, [state.playerTurn for state in states], taus, strict=True)
        return self.inner.act_many(slots, states, taus)

    def act(self, state, tau):
        self.asked.append((0, state.playerTurn, tau))
        return self.inner.act(state, tau)


class Drawn(Corridor):
    """A game that nobody can win."""

    class state_class(CorridorState):  # noqa: N801
        score = (0.0, 0.0)
        value = 0.0


def match(game, count, *, players=None, **options):
    """Return (result, records by index) of a match."""
    memory = Memory(game, 100)
    players = players or (Spy("A", game), Spy("B", game))
    options = {"turns_until_tau0": 0, "memory": memory, **options}
    result = playMatches(game, *players, count, LOG, **options)
    return result, {r.index: r for r in memory.stmemory}


def replayed(game, record):
    state = game.start()
    for action in record.moves:
        assert not state.isEndGame
        state = state.takeAction(int(action))[0]
    return state


class Luck:
    """Stands for `play_batch`: scores of player 1 by chance."""

    def __init__(self, seed, mean, draws):
        self.rng, self.mean, self.draws = np.random.default_rng(seed), mean, draws

    def __call__(self, game, players, jobs, *, seed, report=None):
        luck = self.rng.random(len(jobs))
        won, kept = luck < self.mean - self.draws / 2, luck < self.mean + self.draws / 2
        return [
            MatchGame(job[0], job[1], [], job[2], (int(w) + int(k)) / 2, None, ([], []))
            for job, w, k in zip(jobs, won, kept, strict=True)
        ]
