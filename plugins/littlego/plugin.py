"""What Little-Go's course adds to the program: a command, and a rule for a game's last moves."""

from system.plugins import NewCommand, Plugin

PLUGIN = Plugin(
    about="Little-Go as a university course plays it: from file to file, with its end rule.",
    end_of_move={"littlego": "end_rule:pass_rather_than_leave"},
    commands={"littlego": NewCommand("play", "play one move of a course's 5x5 Go, from file to file")},
)
