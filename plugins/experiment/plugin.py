"""What experiments add to the program."""

from system.plugins import NewCommand, Plugin

PLUGIN = Plugin(
    about="Compares ideas by whole runs of equal compute, and writes reports.",
    extra="tensorboard",
    needs=("pictures",),
    commands={
        "experiment": NewCommand("measure", "compare ideas: several seeds, equal compute, an honest answer"),
        "report": NewCommand("measure", "write a run or an experiment as one HTML file"),
    },
    options={"train": "track:Tracked"},
)
