"""Reads documents for tests: what is not in a code block, plain text, numbers."""

import re

NUMBER = r"\d+(?:\.\d+)?"


def outside_code(text):
    """Yield (number, line) of what is not in a code block."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, line


def plain(text):
    """Return a text without bold, links and commas in numbers."""
    text = re.sub(r"\]\([^)]*\)", "]", text).replace("**", "")
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
