"""Measure speeds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from config import Config, UserError
from game import Game
from interface.arguments import Choice, base_of, parse, preset_checked, whole
from interface.commands import show_compiling

EXAMPLES = {
    "python main.py bench": "Connect 4 with the settings that training would have",
    "python main.py bench --game gomoku": "another game",
    "python main.py bench --simulated-device 300000 1 128": "self-play against a stand-in for a GPU",
}
USED = (
    "game", "preset", "seconds", "simulated_device", "games_in_flight", "hidden_cnn_layers", "precision", "backend",
    "json",
)


@dataclass(frozen=True)
class Bench:
    """Measure speeds: raw network, self-play and their ratio, the search alone, the naive way.

    Settings of training, tournaments and scoreboards change nothing here."""

    config: Config
    preset: Choice | None = None
    """Settings to start from; by default laptop."""
    seconds: float = 20.0
    """Seconds for which self-play and the network alone are measured, each, in turns of a second."""
    simulated_device: tuple[float, float, int] | None = None
    """RATE LATENCY BATCH: no network, but a stand-in for a GPU that takes no core. A call of n positions takes LATENCY
    milliseconds and n / RATE seconds, n rounded up to a multiple of BATCH; those of calls in flight queue."""
    simulated_devices: int = 1
    """Number of such devices; each has threads of its own."""
    json: bool = False
    """Print the result as JSON."""


def _number(value: Any) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _measured(args: Bench) -> dict[str, Any]:
    """Measure with the network."""
    from training.bench import bench

    return bench(preset_checked(args.config), seconds=args.seconds)


def _simulated(args: Bench, game: Game) -> dict[str, Any]:
    """Measure self-play against a stand-in for a GPU."""
    from network.pipelines import SeveralDevices
    from plugins.laboratory.simulated_device import SimulatedDevice
    from training.device_bench import bench_device

    count = whole(args.simulated_devices, "simulated_devices", 1, 64)
    devices = [SimulatedDevice(game, *(args.simulated_device or ())) for _ in range(count)]
    predictor = SeveralDevices(devices) if count > 1 else devices[0]
    return bench_device(game, preset_checked(args.config), predictor, seconds=args.seconds)


def run(argv: list[str]) -> int:
    base = base_of(argv)
    args = parse(Bench, argv, Bench(base))
    if not 0.2 <= args.seconds <= 600:
        raise UserError(f"seconds: expected a number from 0.2 to 600, got {args.seconds}")
    show_compiling("training")
    import games
    from evaluation.game_contract import checked

    game = checked(games.make(args.config.game))
    found = _simulated(args, game) if args.simulated_device else _measured(args)
    if args.json:
        print(json.dumps(found))
        return 0
    for key, value in found.items():
        for part in value if isinstance(value, list) else [value]:
            parts = [f"{name} {_number(n)}" for name, n in part.items()] if isinstance(part, dict) else [_number(part)]
            print(f"{key:<32}{', '.join(parts)}")
    return 0
