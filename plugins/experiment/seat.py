"""The process of a player of another checkout or with other code of its own: it plays in our games. Run as a script.

    python seat.py CHECKOUT PREFIX GAME SIMS SETTINGS

with ALPHAZERO_RUNS naming the folder of its run; SETTINGS are those that play would choose otherwise, as JSON. Lines of
JSON come in, [method, arguments], one goes out for each `act`: the moves. It follows its games by its own rules, from
the moves that `observe` brings.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def main(argv: list[str]) -> None:
    here, prefix, name, sims, settings = argv
    sys.path.insert(0, here)
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # what the code prints is not an answer
    game = import_module(f"{prefix}games").make(name)
    steady = import_module(f"{prefix}network.predictor").STEADY
    options = {"changes": named} if (named := json.loads(settings)) else {}  # an earlier version knows no changes
    make_player = import_module(f"{prefix}players.by_name").make_player
    player = make_player("current", game, sims=int(sims), smallest=steady, **options)
    states: dict[int, Any] = {}

    def say(value: Any) -> None:
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    say("ready")
    for line in sys.stdin:
        method, *words = json.loads(line)
        if method == "act":
            slots, taus = words
            found = player.act_many(slots, [states[slot] for slot in slots], taus)
            say([int(decision.action) for decision in found])
        elif method == "new_games":
            player.new_games(words[0])
        elif method == "new_game":
            states[words[0]] = game.start()
            player.new_game(*words)
        else:
            slot, action = words
            states[slot] = states[slot].takeAction(action)[0]
            player.observe(slot, action)


if __name__ == "__main__":
    main(sys.argv[1:])
