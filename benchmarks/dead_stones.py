"""Compares the dead stones that a network marks after two passes with those of GNU Go, at the ends of GNU Go's games.

    python benchmarks/dead_stones.py [--game "go(size=9,komi=7)"] [--games 60] [--seed 0]

GNU Go (Debian's package gnugo) plays itself at levels 1 to 8 by Japanese rules, by which dead stones stay on the board;
the first six moves and six in a hundred later ones are random. Its verdict at level 10 is what the marks are compared
with. A group is marked as the page of one file marks it: the position before the passes is looked at, and the network
expects the other to be likelier to own its points.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from config import UserError
from game import Game, GameState
from network.numpy_network import outputs
from network.ownership import HEAD, expected_owners
from network.stored_network import layers_of
from players.by_name import network_player
from plugins.engines.programs.gtp import Engine, find_program

OPENING, ANYWHERE, LONGEST = 6, 0.06, 200
SIDES = {1: "black", -1: "white"}


def played(game: Game, rng: np.random.Generator, seed: int) -> tuple[list[GameState], set[int]] | None:
    """Return the positions of a game that two passes end and its dead points by GNU Go; None for another game."""
    size = game.grid_shape[0]
    level = f"--level {1 + seed % 8} --seed {seed + 1}"
    engine = Engine(find_program(f"gnugo --mode gtp --japanese-rules --never-resign {level}"), 60.0, 60.0)
    try:
        for command in (f"boardsize {size}", f"komi {game.komi:g}", "clear_board"):
            engine.ask(command)
        states = [game.start()]
        while not states[-1].isEndGame and len(states) < LONGEST:
            state = states[-1]
            side = SIDES[state.playerTurn]
            if len(states) <= OPENING or rng.random() < ANYWHERE:
                name = str(rng.choice(engine.ask(f"all_legal {side}").split()))
                engine.ask(f"play {side} {name}")
            else:
                name = engine.ask(f"genmove {side}")
            states.append(state.takeAction(game.parse_move(name.lower()))[0])
        if len(states) == LONGEST:
            return None
        engine.ask("level 10")
        return states, {game.parse_move(name.lower()) for name in engine.ask("final_status_list dead").split()}
    finally:
        engine.kill()


def groups(board: np.ndarray) -> list[list[int]]:
    """Return the points of each chain of stones."""
    seen: set[int] = set()
    found = []
    for point in np.flatnonzero(board):
        if point in seen:
            continue
        group = [int(point)]
        seen.add(int(point))
        for at in group:
            r, c = divmod(at, board.shape[1])
            for y, x in ((r, c + 1), (r + 1, c), (r, c - 1), (r - 1, c)):
                other = y * board.shape[1] + x
                inside = 0 <= y < board.shape[0] and 0 <= x < board.shape[1]
                if inside and other not in seen and board[y, x] == board.flat[point]:
                    seen.add(other)
                    group.append(other)
        found.append(group)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="go(size=9,komi=7)")
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    game = games.make(options.game)
    model = network_player(game, 0, "best").model
    layers = layers_of(model)
    if layers is None or HEAD not in layers.heads:
        raise SystemExit("expected a network with an ownership head (--ownership-weight), got another")
    rng, counts, right, number = np.random.default_rng(options.seed), np.zeros((2, 2), int), 0, 0
    for i in range(options.games):
        found = played(game, rng, 1000 * options.seed + i)
        if found is None:
            continue
        states, dead = found
        before = states[-3]
        logits = outputs(layers, model.get_weights(), before.planes()[None], (HEAD,))[0]
        owned = (expected_owners(logits)[0] * before.playerTurn).ravel()
        board = np.array(game.cells(states[-1]).cells)  # type: ignore[union-attr]
        verdicts = [(group[0] in dead, bool(owned[group].mean() * board.flat[group[0]] < 0)) for group in groups(board)]
        for is_dead, marked in verdicts:
            counts[int(is_dead), int(marked)] += 1
        number, right = number + 1, right + all(is_dead == marked for is_dead, marked in verdicts)
    print(f"{number} games: all groups as GNU Go has them in {right}")
    print(f"dead groups: {counts[1, 1]} of {counts[1].sum()} are marked")
    print(f"other groups: {counts[0, 1]} of {counts[0].sum()} are marked")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(str(error)) from None
