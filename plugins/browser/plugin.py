"""What the player in a browser adds to the program."""

from system.plugins import Plugin

PLUGIN = Plugin(about="A player in one HTML file, for any browser.", needs=("pictures",))
