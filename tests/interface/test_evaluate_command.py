"""`evaluate` and `curves` at the command line: what they print, write and refuse."""

import json

import pytest

from config import to_json
from evaluation.report import as_text
from interface.curves import curves
from storage.run_store import Store
from support.command_line import output_of, refused_unchanged
from support.run_states import line, panels
from training.presets import preset


def test_the_same_command_gives_the_same_scoreboard(capsys, place):
    command = ["evaluate", "rollout:20", "--game", "tictactoe", "--positions", "50", "--ladder-games", "24", "--json"]
    one, other = (json.loads(output_of(capsys, *command)[1]) for _ in range(2))
    seconds = one["exact"].pop("seconds"), other["exact"].pop("seconds")
    assert one == other and all(s > 0 for s in seconds)
    assert sum(r["games"] for r in one["ladder"]["rungs"]) == one["ladder"]["games"] <= 24
    assert one["exact"]["players"][0]["name"] == "rollout:20" and "value" not in one["exact"]
    again = json.loads(output_of(capsys, *command, "--seed", "1")[1])
    assert again["exact"]["players"] != one["exact"]["players"]


def test_a_game_without_exact_values_is_measured_by_the_ladder(capsys, place):
    command = ["evaluate", "random", "--game", "gomoku(size=5)", "--ladder-games", "8"]
    code, out, err = output_of(capsys, *command)
    assert (code, err) == (0, "") and "Exact part left out: no exact values of gomoku(size=5)" in out
    assert "scores half against a rollout player of" in out


@pytest.mark.parametrize(
    "words, message",
    [
        (["--sims", "0"], "sims: expected a whole number from 1"),
        (["--positions", "-1"], "positions: expected"),
        (["--positions", "0", "--ladder-games", "0"], "expected positions or ladder_games above 0"),
        (["--ladder-seconds", "-3"], "ladder_seconds: expected a number from 0"),
        (["human"], "expected a player that can play thousands"),
        (["besst"], "did you mean 'best'"),
        (["--game", "gomoku(size=5)", "random", "--ladder-games", "0"], "expected a game with exact values"),
        (["--game", "chess"], "chess"),
        (["best"], "expected a trained run"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(place, capsys, words, message):
    game = [] if "--game" in words else ["--game", "tictactoe"]
    assert message in refused_unchanged(place, capsys, "evaluate", *game, *words)


def test_a_missing_solver_is_named_and_the_ladder_goes_on(place, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "bitbully", None)
    assert "pip install bitbully" in refused_unchanged(place, capsys, "evaluate", "random", "--ladder-games", "0")
    code, out, _ = output_of(capsys, "evaluate", "random", "--ladder-games", "8")
    assert code == 0 and "Exact part left out" in out and "pip install bitbully" in out and "Ladder" in out


def test_a_table_has_straight_columns():
    counts = {"positions": 5, "share": 0.8, "low": 0.4, "high": 0.9}
    player = {"name": "x", "kept": counts, "best": counts, "stages": [{"name": "plies 0-3", **counts}],
              "difficulties": [{"name": n, **counts} for n in "abc"]}  # fmt: skip
    exact = {"players": [player], "chance": {"kept": 0.3, "best": 0.2}, "positions": 5, "seed": 0, "plies": [0, 3],
             "whole": False, "of_all": False, "solver": "someone"}  # fmt: skip
    text = as_text({"player": "x", "game": "g", "note": "", "exact": exact, "ladder": None})
    heads, counted, chance, own = text.splitlines()[-4:]
    assert heads.split() == ["all", "ply", "0-3", "one", "half", "more", "best", "score"]
    assert counted.split()[1:] == ["5"] * 5 and chance.split()[-2:] == ["30.0", "20.0"]
    assert len(heads) == len(chance) == len(own) and own.count("80.0 ±40.0") == 6


# ---- curves


def test_one_run_shows_its_elo_with_errors_and_the_share_kept():
    found = panels(curves([line(i) for i in (1, 2, 3)]))
    (bars,) = found["strength"].containers
    x, y = bars.lines[0].get_data()
    assert list(x) == [1, 2, 3] and list(y) == sorted(y) and len(bars.lines[2][0].get_segments()) == 3
    assert [t.get_text() for t in found["strength"].texts] == ["rollout:16"]
    kept = {drawn.get_label(): drawn.get_xydata().tolist() for drawn in found["value kept"].lines}
    assert kept == {"alone": [[1, 0.41], [2, 0.42], [3, 0.43]], "8 simulations": [[1, 0.51], [2, 0.52], [3, 0.53]]}
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in found["time"].containers}
    assert heights["self-play"] == [3.0] * 3 and heights["score"] == [0.5] * 3 and heights["training"] == [0.0] * 3


def test_several_runs_lie_beside_each_other_over_iterations_or_minutes():
    runs = {"a": [line(1), line(2)], "b": [line(1), line(4)], "c": []}
    for by_time in (False, True):
        picture = curves(runs, by_time=by_time)
        found = panels(picture)
        drawn = [d for d in found["loss"].lines if d.get_label() == "policy"]
        assert [list(d.get_xdata()) for d in drawn] == [[1, 2], [1, 4]]
        assert len({d.get_color() for d in drawn}) == 2 and len(found["strength"].containers) == 2
        assert [t.get_text() for t in picture.figure.legends[0].texts] == ["a", "b", "c"]
        assert picture._repr_png_().startswith(b"\x89PNG")


def test_a_run_without_fixed_opponents_has_no_elo_over_them():
    lines = [line(1, score_matches=[], tournament_played=20, tournament_score=0.9)]
    assert [t.get_text() for t in panels(curves(lines))["strength"].texts] == ["nothing yet"]


AGAIN = "`python main.py train` with this --game and --run 1 writes it again from run.db"


@pytest.fixture
def run_of_two(place):
    """Return the metrics.jsonl, not yet written, of a run that has finished two iterations, and its right text."""
    folder = place / "tictactoe" / "run0001"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(to_json(preset("tiny")))
    store = Store(folder / "run.db", create=True)
    facts = [{"best_version": 0, "total_seconds": 1.0 * i, **line(i)} for i in (1, 2)]
    with store.transaction():
        for number, each in enumerate(facts, 1):
            store.finish(number, "iteration", each)
    store.close()
    return folder / "metrics.jsonl", "".join(json.dumps(each) + "\n" for each in facts)


def curves_of_run(capsys, tmp_path):
    return output_of(capsys, "curves", "--game", "tictactoe", "-o", str(tmp_path / "curves.svg"))


@pytest.mark.parametrize("text", ["{\n", "[1]\n5\n", '{"iteration": 1, "total_seconds": NaN}\n', "\x9f\x00\n", None])
def test_damaged_metrics_are_refused_with_what_writes_them_again(run_of_two, tmp_path, capsys, text):
    path, _ = run_of_two
    path.mkdir() if text is None else path.write_text(text)
    code, out, err = curves_of_run(capsys, tmp_path)
    assert (code, out) == (4, "") and AGAIN in err and err.count("\n") == 1
    assert not (tmp_path / "curves.svg").exists()


@pytest.mark.parametrize("text", [None, "", '{"iteration": 1}\n{"iteration": 2}\n'])
def test_metrics_that_lack_iterations_are_named(run_of_two, tmp_path, capsys, caplog, text):
    path, _ = run_of_two
    if text is not None:
        path.write_text(text)
    assert curves_of_run(capsys, tmp_path)[0] == 0
    assert f"{path} lacks 2 of 2 iterations, or parts of them; {AGAIN}" in caplog.text


def test_whole_metrics_and_those_of_a_young_run_bring_no_such_line(run_of_two, tmp_path, capsys, caplog):
    path, right = run_of_two
    path.write_text(right)
    assert curves_of_run(capsys, tmp_path)[0] == 0 and not caplog.text
    path.unlink()
    store = Store(path.with_name("run.db"))
    store._db.execute("DELETE FROM stages")
    store.close()
    assert curves_of_run(capsys, tmp_path)[0] == 0
    assert "run0001: no iteration is finished yet, so there is nothing to show" in caplog.text
