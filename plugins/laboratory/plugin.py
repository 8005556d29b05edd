"""What the laboratory adds to the program: a test among faults, and a stand-in for a GPU."""

from system.plugins import NewCommand, Plugin

PLUGIN = Plugin(
    about="What tries the program itself: training among faults, and a stand-in for a GPU.",
    commands={
        "soak": NewCommand(
            "when something is wrong", "train among kills, a full disk and damaged files; count losses"
        ),
    },
    options={"bench": "bench_options:SimulatedDeviceOptions"},
)
