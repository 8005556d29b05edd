"""What the page adds to the program."""

from system.plugins import NewCommand, Plugin

PLUGIN = Plugin(
    about="The browser page: play, look inside the search, watch it learn.",
    extra="web",
    needs=("browser", "engines", "pictures"),
    commands={"serve": NewCommand("play", "open the browser page: play, analyse, watch it learn")},
)
