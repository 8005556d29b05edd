"""What a sweep adds to the program."""

from system.plugins import NewCommand, Plugin

PLUGIN = Plugin(
    about="Searches a space of settings with Optuna, by the rules of an experiment.",
    extra="sweep",
    needs=("experiment",),
    commands={"sweep": NewCommand("measure", "search a space of settings, each trial with equal compute")},
)
