"""What tests of runs share: what a run has come to, copies, a console that keeps what is said."""

import shutil
import sqlite3

from initialise import Session
from loggers import Console, read_metrics
from support.tiny_runs import QUIET, tiny, trained_looking


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


def untrained(game):
    """Begin a run of a game in the folder of runs (`place`); return its folder. It has a second network, of chance."""
    with Session.start(tiny(game=game, many_sizes=".." in game), console=QUIET) as session:
        session.model.set_weights(trained_looking(session.model))
        with session.store.transaction("test"):
            session.save_version(1, 1, {})
        return session.folder


def copied(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy" / "tictactoe" / folder.name)


def line(i, **facts):
    return {"iteration": i, "version": i, "best_version": 0, "total_seconds": 60.0 * i, "retrain_policy_loss": 2.0 / i,
            "self_play_first_wins": 0.5, "self_play_draws": 0.2, "score_kept": round(0.5 + i / 100, 2), "score_sims": 8,
            "score_kept_alone": round(0.4 + i / 100, 2), "self_play_seconds": 3.0, "score_seconds": 0.5,
            "score_matches": [{"opponent": "rollout:16", "score": 0.4 + i / 20, "games": 16}], **facts}  # fmt: skip


def panels(picture):
    return {axis.get_title(loc="left"): axis for axis in picture.figure.axes}
