"""What the laboratory adds to the program: a test among faults, a stand-in for a GPU, a classical player of Hex."""

from system.plugins import NewCommand, NewPlayer, Plugin

PLUGIN = Plugin(
    about="What tries the program itself: training among faults, a stand-in for a GPU, a classical player of Hex.",
    commands={
        "soak": NewCommand(
            "when something is wrong", "train among kills, a full disk and damaged files; count losses"
        ),
    },
    players={"circuit": NewPlayer("circuit:3", "hex_player:named")},
    options={"bench": "bench_options:SimulatedDeviceOptions"},
)
