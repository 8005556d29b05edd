"""What the browser adds to the program: a command that writes a player as one file for any browser."""

from system.plugins import NewCommand, Plugin

PLUGIN = Plugin(
    about="A player in one file: rules, search and network as WebAssembly, with a board, for any browser.",
    extra="browser",
    needs=("pictures",),
    commands={"export-page": NewCommand("play", "write a player as one file for browsers, or several as a site")},
)
