"""Positions of renju before a move of Black: * is forbidden to him, + is not, the last O was played last."""

FAULTS = {
    "two open threes": """
        . . . . . . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X * . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "an open and a stopped three": """
        . . . . . . . . .
        . . . . O . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "a three with no room for exactly five": """
        . . . . . . . . .
        . . . . . . . . .
        . . . . . X . . .
        . . . . . X . . .
        X . . X X + . . X
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
    "a four and a three": """
        . . . . . . . . .
        . . . . O . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        . . . . X . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "two fours": """
        . . . . . . . . .
        . . . . O . . . .
        . . . . X . . . .
        . . . . X . . . .
        O X X X * . . . .
        . . . . X . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "two fours in one line, in three forms": """
        X . X * X . X . .
        . . . . . . . . .
        X X . X * . X X .
        . . . . . . . . .
        X X X . * . X X X
        . . . . . . . . .
        O . O . O . O . O
        . . . . . . . . .
        O . O . O . O . O""",
    "a straight four is one four": """
        . . . . . . . . .
        . . . . . . . . .
        . . X X X + . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . . . . . . . O
        . . . . O . . . .""",
    "six in a row": """
        . . . . . . . . .
        . . . . . . . . .
        . X X X * X X . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . . . . . . . O
        . O . . . . . O .""",
    "five is never forbidden, not even with six": """
        . . . . X . . . .
        . . . . X . . . .
        . X X X + X X . .
        . . . . X . . . .
        . . . . X . . . .
        . . . . . . . . .
        . . . . . . . . .
        O . O . O . O . O
        . . O . O . O . .""",
    "a three that one stone only makes a straight four": """
        . . . . O . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X * . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
    "a three whose stone would be six in a row elsewhere": """
        . . . . O . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        . X X X . X X . .
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
    "a three whose stone would be five elsewhere": """
        . . . . O . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        X X X X . . . . .
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
    "a three whose stone would be a double-four elsewhere": """
        . . . . O . . . .
        . . . . . . . . .
        . . . . X . . . .
        . . . . X . . . .
        . . X X + . . . .
        . X X . . X . X X
        . . . . . . . . .
        . . . . . . . . .
        O O . O . O . O O""",
}  # fmt: skip
