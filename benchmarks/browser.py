"""The player in one file: sizes, speeds against the native search, and the error of its weights against Keras.

    python benchmarks/browser.py
    python benchmarks/browser.py --games "gomoku(size=15)" --sims 400
    python benchmarks/browser.py --weights                  # only the errors, of all players that ship

It needs Node; `--weights` does not. Each figure is the best of several tries, native and
WebAssembly one after the other. The search alone is measured with a network without layers, in compiled code.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

import games
from compiled import call, compiled
from game import Game
from network.ownership import HEAD, expected_owners
from network.stored_network import layers_of
from players.by_name import network_player
from plugins.browser.assemble import PageParts, one_file
from plugins.browser.engine import compile_engine, make_engine
from plugins.browser.forward import bytes_of, evaluate, foresee, network_of, widen
from plugins.browser.layers import KINDS, plan, without_layers
from plugins.browser.player import page_parts
from plugins.browser.site import shipped_games
from search.many_trees import ManyTrees
from search.pipeline import search_step

GAMES = ("connect4", "gomoku(size=15)", "go(size=9,komi=7)", "othello", "hex(size=9)")
TRIES = 5
SCRIPT = """
import fs from "fs";
import { pathToFileURL } from "url";
const [folder, script, sims] = process.argv.slice(2);
const { createEngine } = await import(pathToFileURL(script));
const read = (name) => fs.readFileSync(`${folder}/${name}`);
const json = (name) => JSON.parse(read(name));
const best = (tries, work) => {
  let least = Infinity;
  for (let i = 0; i < tries; i++) {
    const begun = performance.now();
    work();
    least = Math.min(least, performance.now() - begun);
  }
  return least;
};
const search = (engine, visits) => {
  engine.fresh = true;
  engine.call.clear_answers(engine.engine);
  engine.begin({ sims: visits });
  while (!engine.step().done);
};
const open = (weights, layout) =>
  createEngine({ wasm: read("all.wasm"), weights: read(weights), layout: json(layout), facts: {} });
const begun = performance.now();
const engine = await open("weights.bin", "layout.json");
const found = { open: performance.now() - begun };
engine.evaluate();
found.evaluation = best(40, () => engine.evaluate());
found.search = best(3, () => search(engine, Number(sims)));
const bare = await open("bare.bin", "bare.json");
found.alone = best(8, () => search(bare, 2000));
found.visits = bare.opinion().visits;
console.log(JSON.stringify(found));
"""
# `bare` has the same module; only its table of steps is empty.


def bare_player(game: Game, search: Any) -> tuple[dict[str, Any], bytes]:
    """Return (layout, weights) of a player whose network has no layers: value 0, all moves equally likely."""
    network = network_of(without_layers(game.action_size))
    return compile_engine(make_engine(game, search, network))[1], bytes_of(network)


@compiled
def without_network(bound: Any, which: Any) -> None:
    """Search to the end; each evaluation is what is in memory, zeros."""
    count = search_step(bound, np.int64(0), which)
    while count > 0:
        count = search_step(bound, np.int64(count), which)


def native_alone(game: Game, search: Any, sims: int, room: int) -> tuple[float, list[int]]:
    """Return (milliseconds in the native search of `sims` visits without a network, the visits)."""
    tree = ManyTrees(game, search, sims=room)
    which = np.zeros(1, np.int32)
    least = np.inf
    for _ in range(TRIES + 3):
        tree.clear_cache()
        tree.plant(game.start())
        tree.forest.trees["budget"] = sims
        begun = time.perf_counter()
        call(without_network, tree._bound, which)
        least = min(least, time.perf_counter() - begun)
    return 1000 * least, tree.visit_counts().tolist()


def error_of_weights(game: Game, agent: Any, count: int) -> dict[str, float]:
    """Return how far value and logits of legal moves are from those of Keras, the largest logit of these, in how many
    positions the best move is the same, and in games of territory how far the owners of points are, if the network has
    learned them; positions of random games."""
    from model import Residual_CNN

    network = Residual_CNN(replace(agent.model.config, precision="float32"), game)
    network.set_weights(agent.model.get_weights())
    layers = layers_of(agent.model)
    if layers is None:
        raise TypeError("expected the residual network")
    made = network_of(plan(layers, agent.model.get_weights(), ownership=game.scored_by_area))
    call(widen, made)
    states: list[Any] = []
    rng, state = np.random.default_rng(0), game.start()
    while len(states) < count:
        states.append(state)
        state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        state = game.start() if state.isEndGame else state
    out, same = np.zeros(game.action_size, np.float32), 0
    value_error = logit_error = largest = owners_error = 0.0
    owners = np.zeros(int(np.prod(game.grid_shape)), np.float32)
    owned = game.scored_by_area and HEAD in layers.heads
    for first in range(0, count, 200):
        part = states[first : first + 200]
        planes = np.stack([each.planes() for each in part])
        values, logits = network.predict(planes)
        if owned:
            said = network.plain(planes, training=False)[network.plain.output_names.index(HEAD)]
            wanted = expected_owners(np.asarray(said, np.float64)).reshape(len(planes), -1)
        for i, (each, position, value, expected) in enumerate(zip(planes, part, values, logits, strict=True)):
            value_error = max(value_error, abs(call(evaluate, made, each.ravel(), out) - float(value)))
            legal = position.allowedActions
            logit_error = max(logit_error, float(np.abs(out[legal] - expected[legal]).max()))
            largest = max(largest, float(np.abs(expected[legal]).max()))
            same += int(out[legal].argmax() == expected[legal].argmax())
            if owned:
                call(foresee, made, each.ravel(), owners)
                owners_error = max(owners_error, float(np.abs(owners - wanted[i]).max()))
    found = {"value": value_error, "logit": logit_error, "largest": largest, "best move": same / count}
    return found | ({"owners": owners_error} if owned else {})


def operations(steps: np.ndarray, points: int) -> int:
    """Return the multiplications and additions of a network's convolutions."""
    conv = steps[steps[:, 0] == KINDS.index("conv")].astype(np.int64)
    return int((2 * points * conv[:, 4] * conv[:, 5] * conv[:, 6] ** 2).sum())


def in_node(data: PageParts, bare: tuple[dict[str, Any], bytes], sims: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "all.wasm").write_bytes(data.wasm)
        (place / "weights.bin").write_bytes(data.weights)
        (place / "layout.json").write_text(json.dumps(data.layout))
        (place / "bare.json").write_text(json.dumps(bare[0]))
        (place / "bare.bin").write_bytes(bare[1])
        engine = Path(__file__).parent.parent / "plugins" / "browser" / "engine.js"
        (place / "engine.mjs").write_text(engine.read_text(encoding="utf-8"))
        (place / "measure.mjs").write_text(SCRIPT)
        command = ["node", str(place / "measure.mjs"), folder, str(place / "engine.mjs"), str(sims)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(spec: str, sims: int, positions: int) -> dict[str, Any]:
    game = games.make(spec)
    begun = time.perf_counter()
    data = page_parts("shipped", game)
    made = time.perf_counter() - begun
    agent = network_player(game, 0, "best")
    layers = layers_of(agent.model)
    if layers is None:
        raise TypeError("expected the residual network")
    steps = plan(layers, agent.model.get_weights()).steps
    node = in_node(data, bare_player(game, agent.search), sims)
    native, visits = native_alone(game, agent.search, 2000, data.layout["sims"])
    if visits != node["visits"]:
        raise SystemExit(f"{spec}: the visits differ: {visits} natively, {node['visits']} in WebAssembly")
    return {
        "file": len(one_file(data).encode()) / 1e6,
        "wasm": len(data.wasm) / 1e3,
        "memory": data.layout["size"] / 2**20,
        "made in": made,
        "open": node["open"],
        "search": node["search"],
        "alone": node["alone"] / 2,
        "ratio": node["alone"] / native,
        "gflops": operations(steps, int(np.prod(game.grid_shape))) / node["evaluation"] / 1e6,
        "error": error_of_weights(game, agent, positions),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+")
    parser.add_argument("--weights", action="store_true", help="only the errors of the weights")
    parser.add_argument("--sims", type=int, default=400)
    parser.add_argument("--positions", type=int, default=1000)
    args = parser.parse_args()
    if args.weights:
        print("game | error of value, of logits up to | best move equal")
        for spec in args.games or shipped_games():
            game = games.make(spec)
            error = error_of_weights(game, network_player(game, 0, "best"), args.positions)
            print(f"{spec} | {in_words(error)}", flush=True)
        return
    print(
        f"game | file MB | wasm kB | memory MiB | open ms | {args.sims} simulations ms | search alone us a simulation "
        "| x native | convolutions GFLOP/s | error of value, of logits up to | best move equal"
    )
    for spec in args.games or GAMES:
        found = measure(spec, args.sims, args.positions)
        error = found["error"]
        print(
            f"{spec} | {found['file']:.2f} | {found['wasm']:.0f} | {found['memory']:.0f} | {found['open']:.0f} | "
            f"{found['search']:.0f} | {found['alone']:.1f} | {found['ratio']:.2f} | {found['gflops']:.1f} | "
            f"{in_words(error)}",
            flush=True,
        )


def in_words(error: dict[str, float]) -> str:
    owners = f", of owners {error['owners']:.1e}" if "owners" in error else ""
    return (
        f"{error['value']:.1e}, {error['logit']:.1e} up to {error['largest']:.0f}{owners} | "
        f"{100 * error['best move']:.1f} %"
    )


if __name__ == "__main__":
    main()
