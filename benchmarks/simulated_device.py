"""Self-play on simulated devices of several speeds, with the threads, games and calls that the program chooses itself.

    python benchmarks/simulated_device.py [--game connect4] [--seconds 10] [--rates 1e5 3e5 1e6] [--latencies 0.3 1 3]

Two tables: how busy each device is kept and what that costs the cores; and the rates that other numbers of cores would
reach, computed from that cost. Each line is printed when it is measured. The machine should do nothing else.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import games
from network.device import best_plan, measure
from network.predictor import cores
from plugins.laboratory.simulated_device import SimulatedDevice
from training.device_bench import CORES, bench_device
from training.device_plan import search_seconds
from training.presets import preset

FIXED, EACH = 30, 8
"""Seconds of a first start, and of a line beside those measured and their warming up: the device's own speed."""
HEADS = ("device, evals/s", "latency, ms", "endgame", "threads x games", "joined", "evals/s", "share", "busy", "sims/s",
         "cores busy", "core us/eval", "core us/sim", "games/s")  # fmt: skip


def line(values: Any) -> str:
    return "| " + " | ".join(str(value) for value in values) + " |"


def measured(found: dict[str, Any], latency: float) -> str:
    """Return a line of the first table."""
    return line((
        f"{found['device_evals_per_s']:,.0f}", f"{latency:g}", found["endgame"],
        f"{found['threads']} x {found['games_in_flight'] // found['threads']:,}", found["calls_joined"],
        f"{found['selfplay_evals_per_s']:,.0f}", f"{100 * found['share']:.1f} %", f"{100 * found['device_busy']:.1f} %",
        f"{found['selfplay_sims_per_s']:,.0f}", f"{found['cores_busy']:.2f}", f"{found['core_us_per_eval']:.2f}",
        f"{found['core_us_per_sim']:.2f}", f"{found['games_per_s']:,.0f}",
    ))  # fmt: skip


def by_cores(game: Any, core: float, sims: float, rates: list[float], latency: float, batch: int) -> None:
    """Print the second table: for each number of cores, what these devices would reach."""
    heads = [f"{rate:,.0f} evals/s" for rate in rates]
    print(f"\nOther numbers of cores, computed from {1e6 * core:.2f} us of a core and {sims:.2f} simulations an "
          f"evaluation; devices of {latency:g} ms. In brackets: cores busy.\n")  # fmt: skip
    print(line(("cores", "the search alone, evals/s", "sims/s", *heads)))
    print(line(["---"] * (3 + len(rates))))
    speeds = [measure(SimulatedDevice(game, rate, latency, batch), game.input_shape) for rate in rates]
    for n in CORES:
        plans = [best_plan(speed, cores=n, search=core, most=1 << 20) for speed in speeds]
        cells = [f"{plan.rate:,.0f} ({plan.rate * core:.1f})" for plan in plans]
        print(line((n, f"{n / core:,.0f}", f"{n / core * sims:,.0f}", *cells)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="connect4")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rates", type=float, nargs="+", default=[1e5, 3e5, 1e6])
    parser.add_argument("--latencies", type=float, nargs="+", default=[0.3, 1.0, 3.0])
    parser.add_argument("--batch", type=int, default=1, help="calls are rounded up to a multiple of this many")
    options = parser.parse_args()
    game, config = games.make(options.game), preset("laptop", game=options.game)
    lines = len(options.rates) * len(options.latencies)
    low, high = (FIXED + lines * (EACH + n * options.seconds) for n in (1.25, 3))
    print(f"{lines} lines of {options.seconds:g} s on {cores()} cores: {low / 60:.0f} to {high / 60:.0f} minutes")
    search = search_seconds(game, config)
    print(f"{game.spec}, {config.mcts_sims} simulations a move; the search alone: {1e6 * search:.2f} us of a core an "
          f"evaluation\n")  # fmt: skip
    print(line(HEADS))
    print(line(["---"] * len(HEADS)))
    costs, sims = [], []
    for rate in options.rates:
        for latency in options.latencies:
            device = SimulatedDevice(game, rate, latency, options.batch)
            found = bench_device(game, config, device, seconds=options.seconds)
            costs.append(found["core_us_per_eval"] / 1e6)
            sims.append(found["selfplay_sims_per_s"] / found["selfplay_evals_per_s"])
            print(measured(found, latency), flush=True)
    middle = sorted(range(lines), key=costs.__getitem__)[lines // 2]
    more = sorted({*options.rates, 4e6, 1e7})
    by_cores(game, costs[middle], sims[middle], more, options.latencies[len(options.latencies) // 2], options.batch)


if __name__ == "__main__":
    main()
