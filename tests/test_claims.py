"""What the documents say of the players that ship is looked up in run_archive/."""

import json
import re
import sqlite3
from functools import cache
from pathlib import Path

import pytest

import games
from evaluation.puzzles import SETS
from loggers import read_metrics
from memory import learns_ownership
from storage.run_folders import SHIPPED, read_config
from support.documents import outside_code

HERE = Path(__file__).parent.parent
FOLDERS = sorted(SHIPPED.glob("*/run0001"))
ABOUT_ALL = re.compile(
    r"\b(no|none|only|every|each|all)\b[^|.:;]*\b(ships?|shipped)\b"
    r"|\b(networks|players) that ship\b|\bthat ships? was\b",
    re.IGNORECASE,
)
"""What a sentence that says something of the players that ship looks like."""


@cache
def configs():
    """Return {game: its settings} of the players that ship."""
    return {config.game: config for config in map(read_config, FOLDERS)}


def owned():
    """Return the games whose player has a head for ownership."""
    return {spec for spec, config in configs().items() if learns_ownership(config, games.make(spec))}


def of_sizes():
    """Return the games whose player has learned a range of sizes."""
    return {spec for spec in configs() if ".." in spec}


def levels():
    """Return the levels of each player that ships, on each board that has some, the weakest first."""
    files = [file for folder in FOLDERS for file in sorted(folder.glob("levels*.json"))]
    return [json.loads(file.read_text())["levels"] for file in files]


def backend(folder):
    """Return the library that trained a player that ships."""
    store = sqlite3.connect(f"file:{SHIPPED / folder / 'run0001' / 'run.db'}?mode=ro", uri=True)
    try:
        return store.execute("SELECT value FROM meta WHERE key = 'backend'").fetchone()[0]
    finally:
        store.close()


def puzzles():
    """Return the number of puzzles of each game that ships some."""
    return [len(json.loads(file.read_text(encoding="utf-8"))["puzzles"]) for file in SETS.glob("*.json")]


OF_SIZES = {
    "go(komi=7,size=7..9)",
    "gomoku(size=7..15)",
    "gomoku(rule=renju,size=7..15)",
    "othello(size=6..10)",
    "hex(size=7..13)",
    "hex(size=7..9,swap=yes)",
}
GO = {"go", "go(komi=24.5)", "go(komi=7,size=7..9)"}
CLAIMS = {
    "engines.md": {
        "The networks that ship play every board of Go (trained on 7x7 to 9x9 with a komi of 7, and on 5x5), of gomoku "
        "and renju (7x7 to 15x15), of Othello (6x6 to 10x10) and of Hex (7x7 to 13x13, with the swap to "
        "9x9).": lambda: (
            of_sizes() == OF_SIZES and games.make("go").grid_shape == (5, 5) and "go" in configs()
        ),
        "A network that ships knows the swap": lambda: "hex(size=7..9,swap=yes)" in configs(),
    },
    "browser.md": {
        "all that ship have it), draws who will own": lambda: (
            {spec for spec in owned() if spec.startswith("go(") or spec == "go"} == GO
        ),
    },
    "page.md": {
        "The names from Beginner to Master are levels of the player that ships, at most ten": lambda: (
            max(map(len, levels())) == 10
        ),
    },
    "evaluation.md": {
        "Only those of Connect 4 and of Go have a head for ownership.": lambda: owned() == {"connect4", *GO},
        "The players of gomoku 8x8 and tic-tac-toe are older than today's presets": lambda: (
            {spec for spec, config in configs().items() if not config.endgame} == {"gomoku(size=8)", "tictactoe"}
        ),
        "Each player that ships was trained, from zero on two cores unless noted, with the settings that `levels "
        "--game G` prints, in this time:": lambda: set(minutes()) == set(configs()),
    },
    "play.md": {
        "yours, or the one that ships (for freestyle `gomoku` and renju, `othello`, `go`, and `hex` with and without "
        "the swap).": lambda: of_sizes() == OF_SIZES,
        "Master is the shipped network with 400 simulations a move.": lambda: all(
            (found[-1]["player"], found[-1]["sims"]) == ("shipped", 400) for found in levels()
        ),
        "12 to 24 ship for each of ten games.": lambda: (
            (min(puzzles()), max(puzzles()), len(puzzles())) == (12, 24, 10)
        ),
    },
    "gpu.md": {
        "and what trained the players of gomoku 15x15 and of Hex that ship, on an H200": lambda: (
            {backend(f"{name}-size-many") for name in ("gomoku", "hex")} == {"jax"}
        ),
    },
}
"""{guide: {words of it: whether that is so}}"""
NO_CLAIMS = (
    "with the players that ship",
    "Every puzzle that ships is checked in the tests by an independent solver, those of Hex and Go by proofs from "
    "nothing.",
    "With each shipped network the files for ONNX Runtime and OpenVINO choose",
    "What the players that ship can do",
    "where none ships your best network",
)
"""Beginnings of what looks like one: what a benchmark or a test of its own shows."""


def sentences(path):
    """Return the sentences of a document's prose, and the cells of its tables."""
    lines = (line for _, line in outside_code(path.read_text(encoding="utf-8")) if not line.startswith("#"))
    text = " ".join(" ".join(lines).split())
    return re.split(r"(?<=[.:;])\s+|\s\|\s", text)


def minutes():
    """Return {game: the text of its minutes} in the table of docs/evaluation.md."""
    table = (HERE / "docs" / "evaluation.md").read_text(encoding="utf-8").split("| game | minutes of training |")[1]
    return dict(re.findall(r"^\| `([^`]+)`[^|]*\| (.*) \|$", table, re.MULTILINE))


@pytest.mark.parametrize("guide, words", [(guide, words) for guide, claims in CLAIMS.items() for words in claims])
def test_what_a_guide_says_of_the_players_that_ship_is_so(guide, words):
    text = " ".join((HERE / "docs" / guide).read_text(encoding="utf-8").split())
    assert words in text and CLAIMS[guide][words]()


def test_every_sentence_about_the_players_that_ship_is_looked_up():
    for path in [HERE / "README.md", *sorted((HERE / "docs").glob("*.md"))]:
        known = [*CLAIMS.get(path.name, ()), *NO_CLAIMS]
        for sentence in filter(ABOUT_ALL.search, sentences(path)):
            assert any(words in sentence or sentence in words for words in known), f"{path.name}: {sentence}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_the_minutes_of_a_player_that_ships_are_those_of_its_run(folder):
    spent = read_metrics(folder / "metrics.jsonl")[-1]["total_seconds"] / 60
    said = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", minutes()[read_config(folder).game])]
    assert any(abs(number - spent) <= max(0.05 * spent, 0.1) for number in said), spent


def test_a_claim_is_found_in_a_sentence():
    for text in ("None that ships has it.", "no network that ships knows", "The networks that ship play"):
        assert ABOUT_ALL.search(text)
    assert not ABOUT_ALL.search("`shipped` plays. No other does.")
