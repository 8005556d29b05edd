"""What the engines add to the program: commands that serve other programs, and other programs as players."""

from system.plugins import NewCommand, NewPlayer, Plugin

SERVE = "serve other programs"

PLUGIN = Plugin(
    about="Play in other programs, and against them: GTP, the Gomocup protocol, KataGo's analysis protocol.",
    commands={
        "gtp": NewCommand(SERVE, "play in GoGui, Sabaki, Lizzie: the Go Text Protocol"),
        "gomocup": NewCommand(SERVE, "play in Piskvork: the Gomocup protocol"),
        "analysis": NewCommand(SERVE, "analyse for KaTrain: KataGo's JSON protocol"),
    },
    players={
        "gtp": NewPlayer("gtp:gnugo", "programs.gtp:GTPPlayer"),
        "gomocup": NewPlayer("gomocup:PROGRAM", "programs.gomocup:GomocupPlayer"),
    },
)
