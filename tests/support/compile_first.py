"""Compile what nearly every test needs, once and on two cores, before the processes that run the tests each do it.

`compile_first.py search` and `compile_first.py rules` take half of it each.
"""

import os
import subprocess
import sys
from pathlib import Path

from compiling.prepared import is_prepared, mark_prepared

HERE = Path(__file__).parents[1]


def search():
    """Play against itself with both searches of self-play."""
    from support.search_cases import GAMES, Projection
    from support.tiny_runs import tiny
    from training.selfplay import SelfPlay, game_seed

    for name in ("tictactoe", "corridor"):
        for gumbel in (0, 4):
            play = SelfPlay(GAMES[name], tiny(full_search_share=0.5, gumbel=gumbel))
            list(play.play(Projection(GAMES[name]), [(i, game_seed("compiled", 1, i)) for i in range(2)]))


def rules():
    """Play a random game of every kind, ask for its planes, let each player without a network play."""
    from players.by_name import make_player
    from support.game_samples import GAMES, end_of, played

    for game in GAMES.values():
        end_of(played(game, 0)).planes()
    for name in ("rollout:4", "alphabeta:2", "greedy"):
        make_player(name, GAMES["othello"]).act(GAMES["othello"].start(), 0.0)


def compile_all():
    """Run both halves side by side and wait, once for the compiled sources as they are; the tests find what fails."""
    if is_prepared("tests"):
        return
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE)])}
    halves = [subprocess.Popen([sys.executable, __file__, half], env=environment) for half in ("search", "rules")]
    if not any([half.wait() for half in halves]):
        mark_prepared("tests")


if __name__ == "__main__":
    {"search": search, "rules": rules}[sys.argv[1]]()
