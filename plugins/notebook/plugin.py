"""What the notebook's pictures add to the program: drawn views in place of plain ones."""

from system.plugins import Plugin

PLUGIN = Plugin(
    about="Drawn pictures for notebooks, and a board to click on.",
    extra="web",
    needs=("pictures",),
    notebook={
        "loop": "pictures:loop",
        "network": "pictures:network",
        "versions": "pictures:versions",
        "show_tree": "pictures:show_tree",
        "clickable": "clickable:clickable",
    },
)
