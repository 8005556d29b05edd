"""What the pictures add to the program: a notebook shows a position as a drawn board."""

from system.plugins import Plugin

PLUGIN = Plugin(
    about="Boards and search trees as SVG, for the page and notebooks.",
    pictures="board_svg:board_svg",
)
