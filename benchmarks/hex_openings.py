"""How a player of Hex judges the first stones whose value is known: all of 5x5 to 8x8.

    python benchmarks/hex_openings.py [shipped run0001:version0012 circuit:3 ...] [--size 7] [--sims 400]
    python benchmarks/hex_openings.py --size 5 --prove 20000

--prove: proves the openings with at most that number of positions for each, as a check of the table.
An opening is judged right if the sign of the value after it is: of the network alone, of its search, of any other
player's search. `order`: how often a winning opening has a larger value than a losing one, which does not depend on
where zero is. Of a network's priors for the first move: their share on winning openings, the four points at each obtuse
corner (`corners`), and how many moves they are spread over (exp of their entropy).
"""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

import games
from agent import Agent, Player
from game import Game
from players.by_name import make_player
from plugins.laboratory.hex_openings import known_openings
from plugins.laboratory.hex_proofs import GaveUp, Prover


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs="*", default=["shipped"])
    parser.add_argument("--size", type=int, default=7)
    parser.add_argument("--sims", type=int, default=400, help="simulations of a network's search")
    parser.add_argument("--root", type=Path, help="folder of runs")
    parser.add_argument("--prove", type=int, default=0, metavar="POSITIONS")
    options = parser.parse_args()
    if options.prove:
        return print(proven(options.size, options.prove))
    game, known = games.make(f"hex(size={options.size})"), known_openings(options.size)
    for name in options.players:
        player = make_player(name, game, sims=options.sims, root=options.root)
        if isinstance(player, Agent):
            print(f"{player.name}, alone: {right(network_values(game, player), known)}")
            print(f"{player.name}, first move: {spread(game, player, known)}")
        print(f"{player.name}, searched: {right(searched_values(game, player), known)}", flush=True)


def proven(size: int, most: int) -> str:
    """Return how many openings are proven with at most `most` positions each, and how many of them the table has so."""
    known, prover, found = known_openings(size), Prover(size), []
    for point in range(size * size):
        prover.most = prover.nodes + most
        with suppress(GaveUp):
            found.append(prover.opening(point) == known[point])
    return f"{len(found)} of {size * size} openings proven, {sum(found)} as in the table; {prover.nodes:,} positions"


def right(values: np.ndarray, known: np.ndarray) -> str:
    """Return how many openings are judged right by these values for the first player, and how well they are ordered."""
    pairs = values[known][:, None] - values[~known]
    order = np.mean((pairs > 0) + 0.5 * (pairs == 0))
    return f"{int(((values > 0) == known).sum())} of {len(known)} right, order {100 * order:.0f} %"


def network_values(game: Game, player: Agent) -> np.ndarray:
    """Return the network's value of each opening, for the first player."""
    start = game.start()
    planes = np.stack([start.takeAction(point)[0].planes() for point in start.allowedActions])
    return -player.predict(planes)[0].ravel()


def searched_values(game: Game, player: Player) -> np.ndarray:
    """Return the value of each opening that a player's search finds, for the first player."""
    start = game.start()
    states = [start.takeAction(point)[0] for point in start.allowedActions]
    if player.at_once == 1:
        return -np.array([player.act(state, 0.0)[2] for state in states])
    player.new_games(len(states))
    for slot in range(len(states)):
        player.new_game(slot, slot)
    return -np.array([d.value for d in player.act_many(range(len(states)), states, [0.0] * len(states))])


def spread(game: Game, player: Agent, known: np.ndarray) -> str:
    """Return where a network's priors of the first move are."""
    priors, size = player.get_preds(game.start())[1], game.grid_shape[0]
    board = priors.reshape(size, size)
    corners = board[:2, -2:].sum() + board[-2:, :2].sum()
    moves = np.exp(-(priors * np.log(priors + 1e-12)).sum())
    best = ", ".join(f"{game.move_name(int(a))} {priors[a]:.2f}" for a in np.argsort(-priors)[:4])
    shares = f"{100 * priors[known].sum():.0f} % on winning openings, {100 * corners:.0f} % on corners"
    return f"{shares}, {moves:.1f} moves; {best}"


if __name__ == "__main__":
    main()
