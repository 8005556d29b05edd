"""Measure how Othello's endings are solved: right, how fast, beside rust-reversi, and what a player gains by it.

    python benchmarks/othello_endings.py exact [--count 1000] [--most 14] [--seed 0]
    python benchmarks/othello_endings.py rust [--count 100] [--empty 14]       (`pip install rust-reversi`)
    python benchmarks/othello_endings.py roots [--count 100] [--empty 18]
    python benchmarks/othello_endings.py more [--count 40] [--empty 15] [--sims 100 400 1600 6400]
    python benchmarks/othello_endings.py match [--games 200] [--sims 100] [--game othello]

exact: scores of generated positions with 1 to `most` empty points against alpha-beta written here, on a board of cells
with a border, without a table. rust: win, draw or loss of the same positions, each engine in turn. roots: all moves of
a root as the search solves them, and how many roots are within its limit. more: what the shipped player's move is
worth with more simulations, with and without the solver, where some moves win and others draw. match: the shipped
player with its solver against itself without. Times are the process's own (CPU time).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from agent import Agent
from compiled import call, compiled
from config import SearchSettings
from evaluation.match import play_batch
from evaluation.openings import openings
from evaluation.rating import rate
from game import CompiledState, Game
from games.othello import score_of_row
from games.othello_endings import LEFT, QUESTION, SIZE
from MCTS import MCTS
from players.by_name import network_player

WIDE = 10
"""Side of a board with its border."""


def positions(game: Game, empty: int, rng: np.random.Generator) -> Iterator[CompiledState]:
    """Yield positions with `empty` empty points, from games of players who mostly leave the other few moves."""
    last = game.grid_shape[0] - 1
    points = (last + 1) ** 2
    corners = {0, last, points - last - 1, points - 1}
    while True:
        state = game.start()
        while not state.isEndGame and np.count_nonzero(np.asarray(state.owners)) < points - empty:
            moves = list(state.allowedActions)
            if rng.random() < 0.75:
                after = [len(state.takeAction(a)[0].allowedActions) - 4 * (a in corners) + rng.random() for a in moves]
                moves = [moves[int(np.argmin(after))]]
            state = state.takeAction(int(rng.choice(moves)))[0]
        if not state.isEndGame and isinstance(state, CompiledState):
            yield state


# ---- alpha-beta on cells


@compiled
def turn_over(cells: Any, player: Any, point: Any, changed: Any, count: Any) -> Any:
    """Turn over what a disc encloses and put the points into `changed` from `count` on; return their new number."""
    for step in (-11, -10, -9, -1, 1, 9, 10, 11):
        i = point + step
        while cells[i] == -player:
            i += step
        if cells[i] == player:
            i -= step
            while i != point:
                cells[i] = player
                changed[count] = i
                count += 1
                i -= step
    return count


@compiled
def plain(
    cells: Any, player: Any, empty: Any, number: Any, alpha: Any, beta: Any, passed: Any, changed: Any, start: Any
) -> Any:
    """Return the score for the player to move: cells [100] int8 in {1, -1, 0, 2 = border}, empty [number] points."""
    best = np.int64(-99)
    for k in range(empty.shape[0]):
        point = np.int64(empty[k])
        if cells[point] != 0:
            continue
        stop = turn_over(cells, player, point, changed, start)
        if stop == start:
            continue
        cells[point] = player
        value = -plain(cells, -player, empty, number - 1, -beta, -max(alpha, best), np.int64(0), changed, stop)
        cells[point] = 0
        for i in range(start, stop):
            cells[changed[i]] = -player
        if value > best:
            best = value
            if best >= beta:
                return best
    if best > -99:
        return best
    if passed or number == 0:
        total = np.int64(0)
        for i in range(cells.shape[0]):
            total += cells[i] if cells[i] != 2 else 0
        return total * player
    return -plain(cells, -player, empty, number, -beta, -alpha, np.int64(1), changed, start)


def plain_score(state: CompiledState, alpha: int, beta: int) -> int:
    """Return the score for the player to move by the alpha-beta above."""
    owners = np.asarray(state.owners)
    size = len(owners)
    cells = np.full((WIDE, WIDE), 2, np.int8)
    cells[1 : size + 1, 1 : size + 1] = owners
    edge = np.minimum(np.arange(WIDE), size + 1 - np.arange(WIDE))
    near = edge[:, None] + edge[None]  # corners first, then edges
    empty = np.flatnonzero(cells == 0)
    empty = empty[np.argsort(near.ravel()[empty], kind="stable")].astype(np.int64)
    player, number = int(state.playerTurn), len(empty)
    changed = np.zeros(64 * 64, np.int64)
    return int(call(plain, cells.ravel().copy(), player, empty, number, alpha, beta, 0, changed, 0))


def solved(state: CompiledState, alpha: int, beta: int, work: np.ndarray) -> tuple[int, float, int]:
    """Return (score, seconds, positions with more than six empty points)."""
    work[LEFT], work[QUESTION], start = 2**31 - 1, work[QUESTION] + 1, time.process_time()
    score = int(call(score_of_row, state.row, alpha, beta, work))
    return score, time.process_time() - start, 2**31 - 1 - int(work[LEFT])


def times(name: str, seconds: list[float], visited: list[int]) -> None:
    """Print how long it took."""
    ms = 1000 * np.array(seconds)
    speed = f", {sum(visited) / sum(seconds):,.0f} positions a second" if sum(visited) else ""
    print(f"{name}: median {np.median(ms):.3f}, mean {ms.mean():.3f}, most {ms.max():.1f} ms{speed}", flush=True)


def exact(args: argparse.Namespace) -> None:
    """Compare scores; a wrong one ends the program."""
    game, rng, work = games.make(args.game), np.random.default_rng(args.seed), np.zeros(SIZE, np.int32)
    seconds: dict[int, list[float]] = {}
    visited: dict[int, list[int]] = {}
    solved(next(positions(game, 1, rng)), -64, 64, work)  # compiled before the clock runs
    for i in range(args.count):
        empty = i % args.most + 1
        state = next(positions(game, empty, rng))
        score, took, nodes = solved(state, -64, 64, work)
        low, high = plain_score(state, score - 1, score), plain_score(state, score, score + 1)
        if not (low >= score >= high):
            raise SystemExit(f"expected a score from {low} to {high}, got {score}\n{state}")
        seconds.setdefault(empty, []).append(took)
        visited.setdefault(empty, []).append(nodes)
    print(f"{args.count} positions with 1 to {args.most} empty points: every score is exact")
    for empty in sorted(seconds):
        if empty > args.most - 4:
            times(f"{empty} empty", seconds[empty], visited[empty])
    times("all", sum(seconds.values(), []), sum(visited.values(), []))


def rust(args: argparse.Namespace) -> None:
    """Compare win, draw and loss, and the seconds, with rust-reversi's alpha-beta to the end of the game."""
    import rust_reversi

    game, rng, work = games.make("othello"), np.random.default_rng(args.seed), np.zeros(SIZE, np.int32)
    search = rust_reversi.AlphaBetaSearch(rust_reversi.PieceEvaluator(), args.empty + 20, 1000)
    found = positions(game, args.empty, rng)
    ours, theirs, visited = list[float](), list[float](), list[int]()
    solved(next(found), -1, 1, work)
    while len(ours) < args.count:
        state = next(found)
        if state.allowedActions == [game.action_size - 1]:
            continue  # it has no score of a position in which a player must pass
        board = rust_reversi.Board()
        text = "".join("-XO"[cell] for cell in np.asarray(state.owners).ravel())
        board.set_board_str(text, rust_reversi.Turn.BLACK if state.playerTurn == 1 else rust_reversi.Turn.WHITE)
        score, took, nodes = solved(state, -1, 1, work)
        start = time.process_time()
        value = np.sign(search.get_search_score(board))
        theirs.append(time.process_time() - start)
        ours.append(took)
        visited.append(nodes)
        if value != np.sign(score):
            raise SystemExit(f"expected {value:+.0f} by rust-reversi, got {score:+d}\n{state}")
    times(f"win, draw or loss of {args.count} positions with {args.empty} empty, here", ours, visited)
    times("rust-reversi", theirs, [])


def roots(args: argparse.Namespace) -> None:
    """Solve all moves of roots as a search does."""
    game, rng = games.make(args.game), np.random.default_rng(args.seed)
    tree, seconds, known = MCTS(game, SearchSettings(endgame=args.empty + 4), sims=4), [], 0
    found = positions(game, args.empty, rng)
    for number in range(args.count + 1):
        tree.plant(next(found))
        start = time.process_time()
        tree.solve_root()
        if number:  # the first is compiled
            seconds.append(time.process_time() - start)
            known += tree.root.proven is not None
    times(f"{known} of {args.count} roots with {args.empty} empty solved", seconds, [])


# ---- players


def shipped(game: Game, name: str, **changes: int) -> Agent:
    """Return the player that ships, with some settings of its search changed."""
    player = network_player(game, 0, "best", sims=changes.pop("sims", 400), changes=changes)
    player.name = name
    return player


def more(args: argparse.Namespace) -> None:
    """Print how often a move keeps a win, by simulations, with and without the solver, and how often more are worse."""
    game, work = games.make(args.game), np.zeros(SIZE, np.int32)
    players = {n: shipped(game, n, sims=max(args.sims), endgame=e) for n, e in (("with", 12), ("without", 0))}
    kept = {name: np.zeros(len(args.sims), int) for name in players}
    worse = dict.fromkeys(players, 0)
    found, tried = positions(game, args.empty, np.random.default_rng(args.seed)), 0
    while tried < args.count:
        state, worth = next(found), {}
        for action in state.allowedActions:
            after = state.takeAction(action)[0]
            value = np.sign(solved(after, -1, 1, work)[0]) if not after.isEndGame else after.value
            worth[action] = value * after.playerTurn * state.playerTurn
        if not {0.0, 1.0} <= set(worth.values()):
            continue
        tried += 1
        for name, player in players.items():
            player.MCTS, values = None, []
            for sims in args.sims:
                values.append(worth[player.think(state, sims).mcts.decide(0, 0.0).action])
            kept[name] += [value == 1 for value in values]
            worse[name] += values != sorted(values)
    for name in players:
        shares = ", ".join(f"{s}: {k}" for s, k in zip(args.sims, kept[name], strict=True))
        print(f"{name} the solver, wins kept of {tried} by simulations: {shares}; worse with more: {worse[name]}")


def match(args: argparse.Namespace) -> None:
    """Play the shipped player with its solver against itself without, both colours of each opening."""
    game = games.make(args.game)
    sims = args.sims[0]
    players = shipped(game, "with", sims=sims, endgame=args.endgame), shipped(game, "without", sims=sims, endgame=0)
    lines = openings(game, args.games // 2, plies=args.plies, seed=args.seed)
    jobs = [(2 * i + k, list(line), k == 0) for i, line in enumerate(lines) for k in range(2)]
    scores: list[float] = []
    for start in range(0, len(jobs), 32):
        scores += [g.score for g in play_batch(game, players, jobs[start : start + 32], seed=args.seed)]
        print(f"{len(scores)} games: {rate(scores)}", flush=True)


def main() -> None:
    """Run what the first argument names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["exact", "rust", "roots", "more", "match"])
    parser.add_argument("--game", default="othello")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--empty", type=int, default=14)
    parser.add_argument("--most", type=int, default=14)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--plies", type=int, default=6)
    parser.add_argument("--endgame", type=int, default=12)
    parser.add_argument("--sims", type=int, nargs="+", default=[100])
    args = parser.parse_args()
    {"exact": exact, "rust": rust, "roots": roots, "more": more, "match": match}[args.what](args)


if __name__ == "__main__":
    main()
