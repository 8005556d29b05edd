"""The notebook views; run.ipynb imports them by name."""

from system.plugins import Plugin

PLUGIN = Plugin(
    about="Notebook views: a run while it trains, boards to look at and to click on.",
    extra="web",
    needs=("pictures",),
)
