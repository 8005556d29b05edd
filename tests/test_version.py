"""The version of the program: the same wherever it is named."""

import re
from pathlib import Path

from config import VERSION
from support.command_line import output_of

ROOT = Path(__file__).parent.parent


def test_changelog_and_citation_name_the_same_version_and_date():
    released = re.findall(r"^## ([0-9.]+) - ([0-9-]+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    number, date = released[0]
    cited = (ROOT / "CITATION.cff").read_text()
    assert number == VERSION
    assert f"\nversion: {VERSION}\n" in cited and f"\ndate-released: {date}\n" in cited


def test_the_program_says_it(capsys):
    assert output_of(capsys, "--version")[:2] == (0, f"alphazero-keras {VERSION}\n")
