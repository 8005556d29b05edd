"""How long the games of an iteration take, by games in flight, ending together or each as soon as it can.

    python benchmarks/iteration.py [--game connect4] [--games 1024] [--in-flight 256 512] [--times 5]

Each time plays other games, the same ones in all ways; between two the network has new weights, as in training. Behind
± stands the standard error of the mean.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from model import make_network
from network.choose_predictor import make_predictor
from network.predictor import STEADY, measure_raw, side_by_side
from training.presets import preset
from training.selfplay import SelfPlay, game_seed, longest_first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--games", type=int, default=1024)
    parser.add_argument("--in-flight", type=int, nargs="+", default=[256, 512])
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    game = games.make(options.game)
    config = preset("laptop", game=options.game)
    model = make_network(config, game)
    trees, threads = side_by_side(game, config.selfplay)
    predictor = make_predictor(model, streams=threads, smallest=STEADY)
    plays = {n: SelfPlay(game, preset("laptop", game=options.game, games_in_flight=n), threads=threads)
             for n in options.in_flight}  # fmt: skip
    ways = [(n, together) for n in plays for together in (True, False)]
    seconds: dict[tuple[int, bool], list[float]] = {way: [] for way in ways}
    shares: dict[tuple[int, bool], list[float]] = {way: [] for way in ways}
    for i in range(-1, options.times):
        for n, together in ways if i % 2 else ways[::-1]:
            play = plays[n]
            predictor.load(model.get_weights())
            play.clear_cache()
            raw = measure_raw(predictor, game.input_shape, trees, threads)
            predictor.load(model.get_weights())
            order = longest_first(config, "iteration", i, range(options.games))
            jobs = [(k, game_seed("iteration", i, k)) for k in order]
            before, began = play.counts().evaluations, time.perf_counter()
            for _ in play.play(predictor, jobs, together=lambda: together):  # noqa: B023 (used up in here)
                pass
            took = time.perf_counter() - began
            if i >= 0:  # once to warm up
                seconds[n, together].append(took)
                shares[n, together].append((play.counts().evaluations - before) / took / raw)
    for n, together in ways:
        spent = np.array(seconds[n, together])
        error = spent.std(ddof=1) / len(spent) ** 0.5 if len(spent) > 1 else np.nan
        how = "together" if together else "each as soon as it can"
        print(f"{n:>6} in flight, {how:<22}  {spent.mean():.2f} ±{error:.2f} s, median {np.median(spent):.2f}, "
              f"share of raw {np.mean(shares[n, together]):.3f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
