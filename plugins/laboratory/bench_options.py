"""Options of `bench` for self-play against a stand-in for a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from config import Config
from interface.arguments import whole

if TYPE_CHECKING:
    from game import Game

USED = ("simulated_device",)


@dataclass(frozen=True)
class SimulatedDeviceOptions:
    """Options of `bench`."""

    simulated_device: tuple[float, float, int] | None = None
    """RATE LATENCY BATCH: no network, but a stand-in for a GPU that takes no core. A call of n positions takes LATENCY
    milliseconds and n / RATE seconds, n rounded up to a multiple of BATCH; those of calls in flight queue."""
    simulated_devices: int = 1
    """Number of such devices; each has threads of its own."""

    def measured(self, game: Game, config: Config) -> dict[str, Any]:
        """Measure self-play against the stand-in; with the network, as `bench` does, where none is named."""
        bench: Any = super()
        if self.simulated_device is None:
            found: dict[str, Any] = bench.measured(game, config)
            return found
        from network.pipelines import SeveralDevices
        from plugins.laboratory.simulated_device import SimulatedDevice
        from training.device_bench import bench_device

        command: Any = self
        count = whole(self.simulated_devices, "simulated_devices", 1, 64)
        devices = [SimulatedDevice(game, *self.simulated_device) for _ in range(count)]
        predictor = SeveralDevices(devices) if count > 1 else devices[0]
        return bench_device(game, config, predictor, seconds=command.seconds)
