"""Games of self-play that were never searched."""

import numpy as np

from storage.game_record import GameRecord


def random_record(game, rng, *, index=0, share=1.0, first_value=0):
    """Play at random and invent visits, so that the move played is often not the most visited one.

    Values count up from `first_value`, which tells positions apart.
    """
    state, moves, visits = game.start(), [], []
    while not state.isEndGame:
        counts = np.zeros(game.action_size, np.uint16)
        if rng.random() < share:
            legal = list(state.allowedActions)
            counts[legal] = rng.integers(0, 30, len(legal))
            counts[legal[0]] += 1
        visits.append(counts)
        moves.append(int(rng.choice(state.allowedActions)))
        state = state.takeAction(moves[-1])[0]
    values = np.arange(first_value, first_value + len(moves), dtype=np.float32)
    result = state.value * state.playerTurn
    return GameRecord(index, np.array(moves, np.int16), np.array(visits), values, float(result))
