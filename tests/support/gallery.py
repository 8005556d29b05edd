"""The games of examples/ for tests, and perfect play in them."""

from functools import cache
from pathlib import Path

import games

GALLERY = Path(__file__).parents[2] / "examples"


def make(name, inside=""):
    return games.make(f"{GALLERY / name}.py" + (f"({inside})" if inside else ""))


def value(state):
    """Return the value of perfect play for the player to move."""

    @cache
    def search(known):
        state = positions[known]
        if state.isEndGame:
            return state.value
        values = []
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            positions[after.id] = after
            values.append(search(after.id) * (1 if after.playerTurn == state.playerTurn else -1))
            if values[-1] == 1:
                break
        return max(values)

    positions = {state.id: state}
    return search(state.id)
