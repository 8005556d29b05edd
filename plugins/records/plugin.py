"""What records add to the program: a table of goals that others can beat."""

from system.plugins import NewCommand, Plugin

PLUGIN = Plugin(
    about="A table of how fast games are learned, and a check of its claims.",
    needs=("experiment", "laboratory"),
    commands={"record": NewCommand("measure", "how fast games are learned, and whether a claim holds")},
)
