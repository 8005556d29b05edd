"""Checks a game of OpenSpiel in its own process, because some wrong parameters crash OpenSpiel or never return.

Run as a script with the game's name; prints a line of JSON: {"error": reason of the refusal}, or the facts that
games/openspiel.py needs.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import random
import re
import sys
from collections.abc import Iterable
from typing import Any

PLIES = 1000
"""Total length of the random games that are sampled; less where observations are large."""
NUMBERS = 20_000_000
"""Largest number of observation values that are sampled."""
LEVELS = 8
"""A channel with more values than this gets thresholds between some of them only."""
MEMORY = 8 << 30
TYPES = {"kInt": "a whole number", "kDouble": "a number with a point", "kBool": "True or False", "kString": "a text",
         "kGame": "a game"}  # fmt: skip


class Refused(Exception):
    """The reason why the game cannot be played here."""


def load(spec: str) -> Any:
    """Return the game; raise `Refused` with one line when OpenSpiel does not know it or rejects it."""
    try:
        import pyspiel
    except ImportError:
        raise Refused("games of OpenSpiel need it installed: `pip install open_spiel`") from None
    known = pyspiel.registered_names()
    for name in re.findall(r"(?:\A|(?<=game=))[^(),=]*", spec):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise Refused(f"expected a game that OpenSpiel knows, got {name[:40]!r}{hint}")
    if not _brackets_match(spec):
        raise Refused(f"expected a form such as hex(board_size=5), got {spec[:60]!r}")
    try:
        game = pyspiel.load_game(spec)
        game.new_initial_state()
    except Exception as error:
        raise Refused(f"OpenSpiel refuses {spec[:60]}: {_in_words(str(error))}") from None
    return game


def _brackets_match(spec: str) -> bool:
    """Return whether all text after the name is in one pair of brackets: OpenSpiel ignores what follows it."""
    depth = 0
    for i, mark in enumerate(spec):
        depth += (mark == "(") - (mark == ")")
        if depth < 0 or (mark == ")" and depth == 0 and i != len(spec) - 1):
            return False
    return depth == 0


def _in_words(error: str) -> str:
    """Return an error of OpenSpiel as one line without the place in its source."""
    line = re.sub(r"^/\S+:\d+ ", "", " ".join(error.split()))
    for name, words in TYPES.items():
        line = line.replace(f"type: {name}", f"type: {words}").replace(f"got {name} with", "got")
    return line[:200]


def _short(game: Any) -> str:
    return str(game).removesuffix("()")[:60]


def examine(game: Any) -> dict[str, Any]:
    """Return the facts of an accepted game; raise `Refused` with every property that is not accepted."""
    kind, greatest = game.get_type(), game.max_utility()
    actions, length = game.num_distinct_actions(), longest(game)
    wanted = (
        ("two players", game.num_players(), 2),
        ("moves one after the other", kind.dynamics.name.lower(), "sequential"),
        ("no chance", kind.chance_mode.name.lower(), "deterministic"),
        ("perfect information", kind.information.name.lower(), "perfect_information"),
        ("one player's gain to be the other's loss", kind.utility.name.lower(), "zero_sum"),
        ("an observation tensor", "one" if kind.provides_observation_tensor else "none", "one"),
        ("a greatest result above 0", greatest, greatest if 0 < greatest < math.inf else None),
        ("1 to 32,767 actions", actions, min(max(actions, 1), 32_767)),
        ("games of at least one ply", length, max(length, 1)),
    )
    faults = [f"expected {what}, got {got}" for what, got, good in wanted if got != good]
    if faults:
        raise Refused(f"{_short(game)} cannot be played here: {'; '.join(faults)}")
    try:
        thresholds, names, seen = sample(game, 2 * length)
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"OpenSpiel fails in {_short(game)}: {_in_words(str(error))}") from None
    length = length if seen <= length else 2 * length  # too low for dots_and_boxes on some boards
    return {"spec": str(game).removesuffix("()"), "length": length, "thresholds": thresholds, "names": names}


def longest(game: Any) -> int:
    """Return how many plies a game can have; OpenSpiel's own number omits the swap in Hex."""
    return int(game.max_game_length()) + (game.get_parameters().get("swap") is True)


def channels(shape: list[int]) -> int:
    """Return how many first indices of an observation are planes: all if it is no stack of boards."""
    boards = len(shape) == 3 or (len(shape) == 2 and math.isqrt(shape[1]) ** 2 == shape[1])
    return shape[0] if boards else math.prod(shape)


def sample(game: Any, limit: int) -> tuple[list[list[float]], dict[int, str], int]:
    """Play random games; return thresholds of each channel, names of actions, the length of the longest game."""
    import numpy as np

    shape = game.observation_tensor_shape()
    plies = max(1, min(PLIES, NUMBERS // math.prod(shape)))
    rng, longest_seen = random.Random(0), 0
    seen: list[Any] = []
    said: dict[int, set[str]] = {}
    while len(seen) < plies:
        state, begun = game.new_initial_state(), len(seen)
        while not state.is_terminal() and len(seen) < plies:
            player, legal = state.current_player(), state.legal_actions()
            if player not in (0, 1) or not legal:
                raise Refused(f"{_short(game)} cannot be played here: expected a legal move, got none")
            if len(seen) - begun >= limit:
                raise Refused(f"{_short(game)} cannot be played here: expected at most {limit} plies, got more")
            seen.append(np.asarray(state.observation_tensor(player), np.float32))
            for action in legal:
                said.setdefault(action, set()).add(_text(state, player, action))
            state.apply_action(rng.choice(legal))
        longest_seen = max(longest_seen, len(seen) - begun)
        if not longest_seen:
            raise Refused(f"{_short(game)} cannot be played here: it is over before the first move")
    numbers = np.stack(seen).reshape(len(seen), channels(shape), -1)
    thresholds = [_thresholds(np.unique(numbers[:, c])) for c in range(numbers.shape[1])]
    return thresholds, _names(said), longest_seen


def _text(state: Any, player: int, action: int) -> str:
    try:
        return str(state.action_to_string(player, action))
    except UnicodeDecodeError:  # hex beyond 26 columns
        return ""


def _thresholds(levels: Any) -> list[float]:
    """Return thresholds between the values of a channel: between all if they are few, else denser for small values."""
    if len(levels) == 1 or levels.tolist() == [0.0, 1.0]:
        return [0.5]
    cuts = [float(cut) for cut in (levels[1:] + levels[:-1]) / 2]
    return cuts if len(cuts) <= LEVELS else [cuts[i] for i in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89) if i < len(cuts)]


def _names(said: dict[int, set[str]]) -> dict[int, str]:
    """Return the common end of each action's texts as its name; nothing if that does not distinguish the actions."""
    ends = {a: _common_end(texts) for a, texts in said.items()}
    names = {a: re.sub(r"[^\w+*=>#@-]+", "-", end).strip("-") for a, end in ends.items()}
    lower = [name.lower() for name in names.values()]
    clear = len(set(lower)) == len(lower) and all(0 < len(name) <= 40 for name in lower)
    return names if clear and all(not n.isdecimal() or n == str(a) for a, n in names.items()) else {}


def _common_end(texts: Iterable[str]) -> str:
    return os.path.commonprefix([text[::-1] for text in texts])[::-1]


def main(spec: str) -> None:
    """Print the facts about a game, or its refusal."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    except (ImportError, ValueError, OSError):
        pass
    try:
        found = examine(load(spec))
    except Refused as refusal:
        found = {"error": str(refusal)}
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
