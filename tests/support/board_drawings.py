"""What tests of games share: positions by their moves, boards by their drawings."""


def play(game, moves):
    """Return the position after moves by name."""
    state = game.start()
    for action in game.parse_moves(moves):
        state = state.takeAction(action)[0]
    return state


def drawn(text):
    """The lines of a drawing, blanks at the ends left out."""
    return [line.strip() for line in text.strip().splitlines()]
