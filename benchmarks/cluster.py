"""A Ray cluster on this machine: its speed against threads, its memory over many rounds, and random kills.

    python benchmarks/cluster.py speed [--seconds 60] [--actors 1,2] [--turns 3]
    python benchmarks/cluster.py rounds [--count 200]
    python benchmarks/cluster.py kills [--count 50] [--seed 0]
    python benchmarks/cluster.py driver [--games 4000]
    python benchmarks/cluster.py model [--learner 126000] [--driver 7000]

Each starts a head without cores and nodes of its own, all on this machine. speed: Connect 4 with the network of the
preset laptop by threads of one process and by actors that have the same cores, in turns; the median of the turns'
ratios counts. Where other programs run beside it the ratio of simulations a second of processor time says more: it
counts this process and all of Ray's. Also the messages and bytes of an actor; benchmarks/cluster.md computes with them.
rounds: the memory of the driver and of an actor, and what the object stores hold, after each tenth of the rounds.
kills: a run of tic-tac-toe in which an actor is killed, stopped, or loses its node at random, compared with the same
run by threads. No process is killed while it plays games that were hit twice in a row: a third time would count as
their failure and end the run. driver: how many games a second of processor time the driver can receive, store and put
into its memory. model: benchmarks/cluster.md's table, from rates: those of the player that ships, or those named.
"""

import argparse
import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(HERE), str(HERE / "tests")]

BYTES_PER_PLY = 26.0
"""Of the message of a finished game: 547 of one of 21 plies."""


def machines(nodes: int, cores: int) -> Any:
    from ray_cluster import RayCluster

    return RayCluster(nodes, cores)


def counted(cluster: Any) -> dict[str, float]:
    """Count the calls that return and the bytes that they bring, from now on."""
    found = {"calls": 0.0, "bytes": 0.0}
    call = cluster.call

    def counting(method: Any, arguments: Any, then: Any) -> None:
        def count(future: Any) -> None:
            found["calls"] += 1
            if future.exception() is None and isinstance(future.result(), bytes):
                found["bytes"] += len(future.result())
            then(future)

        call(method, arguments, count)

    cluster.call = counting
    return found


# ---- speed


def processor_seconds() -> tuple[float, float]:
    """Return the processor time of this process and of all that come from it, and the part that no actor spent."""
    parents, spent, actors = {}, {}, set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            title = path.with_name("cmdline").read_text(errors="replace")
        except OSError:  # it has ended
            continue
        pid = int(path.parent.name)
        parents[pid], spent[pid] = int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if title.startswith("ray::GameActor"):
            actors.add(pid)
    mine = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
        mine |= more
    return sum(spent[pid] for pid in mine), sum(spent[pid] for pid in mine - actors)


def measure(root: Path, actors: int, seconds: float, games: int) -> dict[str, float]:
    """Return the rates of self-play after a warm-up, by a number of actors that share the cores; 0 = by threads."""
    from initialise import Session
    from loggers import Console
    from plugins.cluster.pool import connect
    from system.processes import processors
    from training.presets import preset
    from training.work import source_of, work_of

    config = preset("laptop", game="connect4", games_in_flight=games)
    before = after = 0.0, 0.0
    cluster, ray = None, machines(actors, len(processors()) // actors) if actors else None
    with Session.start(config, root=root, console=Console(quiet=True)) as session:
        _ = session.model
        if ray is not None:
            cluster = work_of(session).machines = connect(ray.address, 0, config, print)
        pool, found, moved = source_of(session).pool, 0, counted(cluster) if cluster else {}
        began, first, last = time.perf_counter(), None, None
        for _ in pool.play(source_of(session).spec(0), range(1_000_000)):
            found += 1
            now = time.perf_counter(), pool.counts(), found, dict(moved)
            if first is None and found > games:  # all games of the beginning have ended: lengths are mixed
                first, before = now, processor_seconds()
            if first and now[0] - first[0] > seconds:
                last, after = now, processor_seconds()
                break
    if cluster is not None and ray is not None:
        cluster.close()
        ray.close()
    if first is None or last is None:
        raise RuntimeError("expected games, got none")
    spent, processor = last[0] - first[0], after[0] - before[0]
    rates = {name: (last[3][name] - first[3][name]) / spent / actors for name in moved}
    simulations = last[1].simulations - first[1].simulations
    return {
        "warm-up s": first[0] - began, "games/s": (last[2] - first[2]) / spent, "simulations/s": simulations / spent,
        "simulations/s of processor": simulations / processor, "cores busy": processor / spent,
        "cores of the driver and Ray": (after[1] - before[1]) / spent if actors else 0.0,
        "evaluations/s": (last[1].evaluations - first[1].evaluations) / spent,
        "calls/s an actor": rates.get("calls", 0.0), "bytes/s an actor": rates.get("bytes", 0.0),
    }  # fmt: skip


def speed(args: argparse.Namespace) -> None:
    found: dict[int, list[dict[str, float]]] = {}
    ways = [0, *map(int, args.actors.split(","))]
    for _ in range(args.turns):
        for actors in ways:
            with tempfile.TemporaryDirectory() as root:
                line = measure(Path(root), actors, args.seconds, args.games)
            found.setdefault(actors, []).append(line)
            print(actors, "  ".join(f"{name} {value:,.2f}" for name, value in line.items()), flush=True)
    names = list(found[0][0])
    print("\n| actors | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|")
    for actors, lines in found.items():
        medians = (f"{np.median([line[name] for line in lines]):,.2f}" for name in names)
        print(f"| {actors} | " + " | ".join(medians) + " |")
    for actors, name in itertools.product(ways[1:], ("simulations/s", "simulations/s of processor")):
        ratios = [one[name] / other[name] for one, other in zip(found[actors], found[0], strict=True)]
        print(f"{actors} actors against threads, {name}: median {np.median(ratios):.3f}, "
              f"{min(ratios):.3f} to {max(ratios):.3f} in {len(ratios)} turns")  # fmt: skip


# ---- rounds


def resident(pid: int) -> int:
    """Return the bytes of memory that a process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fake_pool(address: str, folder: Path, **settings: Any) -> tuple[Any, Any, Any]:
    """Return (cluster, pool, spec of a round) of actors that play made-up games; the network is 8 MB of noise."""
    import json

    from fake_actors import FakeActor

    from plugins.cluster.cluster import Cluster
    from plugins.cluster.pool import ClusterPool
    from storage.atomic_files import sha256
    from support.fake_workers import expected
    from training.worker_pool import RoundSpec

    content = np.random.default_rng(0).bytes(8 << 20)
    (folder / "net").write_bytes(content)
    cluster = Cluster(address, library="openvino", precision="float32", say=print, actor=FakeActor)
    words = json.dumps(settings).encode()
    pool = ClusterPool(
        cluster, words, workers=0, side_by_side=64, expected=expected, log=lambda text: print(text.splitlines()[0])
    )
    return cluster, pool, RoundSpec("run", 1, 0, str(folder / "net"), sha256(content))


def rounds(args: argparse.Namespace) -> None:
    from ray_cluster import objects_left

    ray = machines(2, 1)
    with tempfile.TemporaryDirectory() as folder:
        cluster, pool, spec = fake_pool(ray.address, Path(folder))
        for number in range(1, args.count + 1):
            games = len(list(pool.play(spec._replace(iteration=number), range(500))))
            left = objects_left()
            if games != 500 or left:
                raise SystemExit(f"round {number}: {games} of 500 games, {left} bytes left in the object stores")
            if number % max(args.count // 10, 1) == 0:
                actors = [int(p.handle.name.split("process ")[1].rstrip(")")) for p in pool._places]
                sizes = "  ".join(f"{resident(pid) / 2**20:.1f}" for pid in (os.getpid(), *actors))
                print(f"round {number}: {left} bytes in the stores; MiB of the driver and actors: {sizes}", flush=True)
        pool.close()
        cluster.close()
    ray.close()


# ---- kills


def kills(args: argparse.Namespace) -> None:
    from initialise import Session
    from main import train
    from plugins.cluster.pool import connect
    from storage.verify import verify
    from support.tiny_runs import QUIET, tiny
    from training.work import source_of, work_of

    rng, ray, states = random.Random(args.seed), machines(3, 1), []
    done: list[str] = []
    came: Counter[tuple[int, int]] = Counter()
    config = tiny(episodes=args.games, mcts_sims=200, iterations=args.iterations, eval_every=100, score_every=0)
    last = 0.0

    def disturb() -> bool:
        nonlocal last
        pool: Any = source_of(session).pool
        places = [p for p in pool._places if p.busy and p.handle] if work_of(session).machines else []
        if len(done) >= args.count or not places or time.monotonic() - last < args.every:
            return False
        last, what = time.monotonic(), rng.choice(["kill", "kill", "stop", "node"])
        if what == "node":
            ray.remove(rng.choice(ray.nodes))
            ray.add()
        else:
            if what == "kill":
                places = [p for p in places if not any(task.alone for task in p.tasks.values())]
            if not places:
                return False
            pid = int(rng.choice(places).handle.name.split("process ")[1].rstrip(")"))
            try:
                os.kill(pid, signal.SIGKILL if what == "kill" else signal.SIGSTOP)
            except ProcessLookupError:  # it went with a node, and nobody knows yet
                return False
        done.append(what)
        return False

    def counting(play: Any) -> Any:
        def counted_play(spec: Any, games: Any, **options: Any) -> Any:
            for record in play(spec, games, **options):
                came[spec.iteration, record.index] += 1
                yield record

        return counted_play

    with tempfile.TemporaryDirectory() as root:
        for name in ("threads", "cluster"):
            began = time.monotonic()
            with Session.start(config, root=Path(root) / name, console=QUIET) as session:
                cluster = connect(ray.address, 0, config, print) if name == "cluster" else None
                work_of(session).machines = cluster
                if cluster is not None:
                    pool: Any = source_of(session).pool
                    pool._lease, pool.play = 6.0, counting(pool.play)
                train(session, stop=disturb)
            if cluster is not None:
                cluster.close()
            found = verify(session.folder)
            states.append((found.state, found.games, found.damage))
            print(f"{name}: {found.games} games, {time.monotonic() - began:.0f} s, state {found.state[:16]}, "
                  f"{len(done)} disturbances {({what: done.count(what) for what in done})}", flush=True)  # fmt: skip
    ray.close()
    twice = sum(count - 1 for count in came.values())
    print(f"{args.games * args.iterations - len(came)} games missing, {twice} came twice")
    print("the same" if states[0] == states[1] else "NOT the same")
    raise SystemExit(states[0] != states[1] or len(done) < args.count)


# ---- the driver alone, and the model


def random_games(count: int) -> list[Any]:
    """Return finished games of Connect 4 by random moves, with visits of all legal moves at every ply."""
    from games import make
    from storage.game_record import GameRecord

    game, rng, found = make("connect4"), np.random.default_rng(0), []
    for index in range(count):
        state, moves, visits = game.start(), [], []
        while not state.isEndGame:
            allowed = list(state.allowedActions)
            counts = np.zeros(game.action_size, np.int64)
            counts[allowed] = rng.integers(1, 30, len(allowed))
            moves.append(int(rng.choice(allowed)))
            visits.append(counts)
            state = state.takeAction(moves[-1])[0]
        values = rng.uniform(-1, 1, len(moves)).astype(np.float32)
        result = float(state.value * state.playerTurn)
        found.append(GameRecord(index, np.array(moves, np.int16), np.array(visits, np.uint16), values, result))
    return found


def driver(args: argparse.Namespace) -> None:
    from games import make
    from memory import Memory
    from storage.run_store import Store
    from training.selfplay import Counts
    from training.worker_messages import expected_of, game_message, game_of_message, read

    made = random_games(args.games)
    packed = [game_message(record, Counts(0, 0, 0, 0, 0, 0, 0.0)) for record in made]
    plies = sum(len(record.moves) for record in made) / len(made)
    size = sum(map(len, packed)) / len(packed)
    print(f"{len(made)} games of {plies:.1f} plies, {size:.0f} bytes each", flush=True)
    game = make("connect4")
    memory, wanted = Memory(game, 600_000), expected_of(game)
    with tempfile.TemporaryDirectory() as root:
        store = Store(Path(root) / "run.db", create=True)
        for turn in range(1, 4):
            began = time.process_time()
            records = [game_of_message(*read(data), wanted) for data in packed]
            received = time.process_time()
            for first in range(0, len(records), 1000):
                with store.transaction():
                    store.add_games(turn, 0, records[first : first + 1000])
            stored = time.process_time()
            for record in records:
                memory.commit_stmemory(record)
            memory.commit_ltmemory()
            memory.clear_stmemory()
            ended = time.process_time()
            rates = [len(records) / t for t in (received - began, stored - received, ended - stored, ended - began)]
            words = "games/s of processor time: received {:,.0f}, stored {:,.0f}, remembered {:,.0f}, all {:,.0f}"
            print(words.format(*rates), flush=True)
        store.close()


def rates_of_the_player_that_ships() -> dict[str, float]:
    """Return what the training of Connect 4's player did in its last iteration, on two cores."""
    folder = HERE / "run_archive" / "connect4" / "run0001"
    line = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    settings = json.loads((folder / "config.json").read_text())
    return {
        "games_per_s": line["self_play_games"] / line["self_play_seconds"],
        "positions_per_game": line["self_play_new_positions"] / line["self_play_games"],
        "reuse": settings["reuse"],
        "bytes_per_game": BYTES_PER_PLY * line["self_play_plies"],
        "learner": line["retrain_positions_per_s"],
        "weights_mb": next((folder / "models").glob("*.npz")).stat().st_size / 1e6,
        "episodes": line["self_play_games"],
    }


def model(args: argparse.Namespace) -> None:
    """Print what numbers of machines need and give, computed from the rates of one (benchmarks/cluster.md)."""
    positions = args.games_per_s * args.positions_per_game
    need = positions * args.reuse
    print(
        f"A machine plays {args.games_per_s:,.1f} games/s with {positions:,.0f} new positions/s, for which the "
        f"learner needs {need:,.0f} samples/s; it takes {args.learner:,.0f}.\n"
    )
    print(
        "| machines | games/s | samples/s needed | learner busy | MB/s of games | calls/s | MB of networks a "
        "version | driver's thread busy |\n" + "|---" * 8 + "|"
    )
    for count in (1, 10, 100, 1000):
        games, calls = count * args.games_per_s, count * args.calls
        print(
            f"| {count:,} | {games:,.0f} | {count * need:,.0f} | {count * need / args.learner:.0%} | "
            f"{games * args.bytes_per_game / 1e6:,.2f} | {calls:,.0f} | {count * args.weights_mb:,.0f} | "
            f"{games / args.driver:.0%} |"
        )
    learning = args.episodes * args.positions_per_game * args.reuse / args.learner
    one, ten = (learning + args.episodes / args.games_per_s / count for count in (1, 10))
    print(f"\nThe learner is busy all the time from {args.learner / need:,.1f} machines on, the driver's thread from "
          f"{args.driver / args.games_per_s:,.0f}.")  # fmt: skip
    print(
        f"An iteration of {args.episodes:,.0f} games takes {one:.1f} s on one machine, {learning:.1f} of them "
        f"learning; with ten {ten:.1f} s, {one / ten:.2f} times as fast, with a thousand at most "
        f"{one / learning:.2f} times."
    )


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(required=True)
    way = ways.add_parser("speed")
    way.add_argument("--seconds", type=float, default=60)
    way.add_argument("--actors", default="1,2")
    way.add_argument("--turns", type=int, default=3)
    way.add_argument("--games", type=int, default=256, help="games in flight")
    way.set_defaults(run=speed)
    way = ways.add_parser("rounds")
    way.add_argument("--count", type=int, default=200)
    way.set_defaults(run=rounds)
    way = ways.add_parser("kills")
    way.add_argument("--count", type=int, default=50)
    way.add_argument("--seed", type=int, default=0)
    way.add_argument("--every", type=float, default=4.0, help="least seconds between two")
    way.add_argument("--games", type=int, default=400)
    way.add_argument("--iterations", type=int, default=28)
    way.set_defaults(run=kills)
    way = ways.add_parser("driver")
    way.add_argument("--games", type=int, default=4000)
    way.set_defaults(run=driver)
    way = ways.add_parser("model")
    for name, value in {"calls": 5.0, "driver": 7000.0, **rates_of_the_player_that_ships()}.items():
        way.add_argument(f"--{name.replace('_', '-')}", type=float, default=value)
    way.set_defaults(run=model)
    return parser


def main() -> None:
    args = arguments().parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
