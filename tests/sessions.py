"""What tests of runs share: what a run has come to, copies, a console that keeps what is said."""

import shutil
import sqlite3

from initialise import Session
from loggers import Console, read_metrics
from tiny import QUIET, tiny


class Listening(Console):
    """Keeps what is said."""

    def __init__(self):
        super().__init__(quiet=True)
        self.said = []

    def say(self, text):
        self.said.append(text)

    warn = say


def content(folder, last=4):
    """Return what a run has come to by an iteration: its games, matches, versions and the weights of each."""
    queries = {
        "games": "SELECT * FROM games WHERE iteration <= ? ORDER BY iteration, idx",
        "matches": "SELECT * FROM matches WHERE iteration <= ? ORDER BY iteration, idx",
        "versions": "SELECT * FROM versions WHERE iteration <= ? ORDER BY version",
    }
    with sqlite3.connect(folder / "run.db") as db:
        found = {name: db.execute(query, (last,)).fetchall() for name, query in queries.items()}
    db.close()
    found["best"] = [line["best_version"] for line in read_metrics(folder / "metrics.jsonl")][:last]
    found["files"] = {name: (folder / "models" / name).read_bytes() for _, _, name, *_ in found["versions"]}
    return found


def assert_same_run(one, other, last=4):
    one, other = content(one, last), content(other, last)
    for part in one:
        assert one[part] == other[part], part
    assert len(one["best"]) == last


def start(root, **changes):
    return Session.start(tiny(**changes), root=root, console=QUIET)


def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy" / "tictactoe" / folder.name)
