"""What the doctor adds to the program."""

from system.plugins import NewCommand, Plugin

PLUGIN = Plugin(
    about="Examines the installation, a game's learning and a run, and names the remedy.",
    commands={"doctor": NewCommand("when something is wrong", "examine the installation and a run")},
)
