"""What a report and a measurement take from files, which may be those of others, or damaged."""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

import games
from config import Config, UserError
from loggers import Console
from plugins.experiment import measure, runs
from plugins.experiment.boards import Boards
from plugins.experiment.charts import Series, line_chart
from plugins.experiment.folder import begin, machine, read_experiment
from plugins.experiment.openings_played import openings_played
from plugins.experiment.plan import from_file, from_values, varied
from plugins.experiment.report import _sample_games, experiment_report
from plugins.experiment.runs import jobs
from storage.game_record import GameRecord
from support.command_line import output_of


def test_a_stored_game_does_not_run_the_file_that_it_names(tmp_path):
    (tmp_path / "theirs.py").write_text(f"open({str(tmp_path / 'it ran')!r}, 'w')\n")
    none = np.zeros(0, np.float32)

    def store_of(board):
        record = GameRecord(0, none.astype(np.int16), np.zeros((0, 9), np.uint16), none, 0.0, board)
        return SimpleNamespace(game_counts=lambda: {1: 1}, games_of=lambda iteration: iter([record]))

    game = games.make("gomoku(size=6..7)")
    with pytest.raises(UserError, match="expected a size of gomoku"):
        _sample_games(store_of(f"{tmp_path / 'theirs.py'}:Game"), game, Boards())
    assert not (tmp_path / "it ran").exists()
    assert len(_sample_games(store_of("gomoku(size=6)"), game, Boards())) == 1


@pytest.mark.parametrize(
    "result, words, points",
    [(0.6, "the first player wins", 1), (-0.6, "the second", 0), (0.0, "drawn", 0.5), (3.0, "the first", 1)],
)
def test_a_result_is_judged_by_its_sign(result, words, points):
    """A game of your own may end with any number."""
    game, moves = games.make("tictactoe"), np.array([4, 0], "<i2")
    visits = np.zeros((2, 9), np.uint16)
    record = GameRecord(0, moves, visits, np.zeros(2, np.float32), result, "")
    row = 1, 0, 0, result, moves.tobytes(), b"\x80"
    store = SimpleNamespace(
        game_counts=lambda: {1: 1}, games_of=lambda iteration: iter([record]), rows=lambda *_: [row]
    )
    [shown] = _sample_games(store, game, Boards())
    assert words in shown["title"]
    root, _ = openings_played(store, Config(game="tictactoe"), game)
    assert root.points[0] == root.after[4].points[0] == points


def test_an_experiment_is_reported_when_its_checkout_is_gone(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "main.py").touch()
    file = tmp_path / "plan.toml"
    file.write_text(
        'game = "tictactoe"\nminutes = 1\nseeds = 2\n[variants.base]\n'
        f"[variants.theirs]\ncheckout = {json.dumps(str(other))}\n"
    )
    begin(tmp_path / "e", from_file(file), "")
    (other / "main.py").unlink()
    assert "0 of 4 runs are finished" in experiment_report(tmp_path / "e", "tictactoe")
    with pytest.raises(UserError, match="variant 'theirs': checkout: expected a folder with main.py"):
        from_file(file)


MIXED = """
game = "{0}/rules.py:Own"
minutes = 1
seeds = 2
[variants.base]
[variants.theirs]
checkout = "{0}/other"
[variants."their planes"]
game = "{0}/planes.py:Own"
[variants."their net"]
network = "{0}/net.py:Net"
first = {{ share = 0.5, network = "{0}/first.py:Net" }}
"""


@pytest.mark.parametrize(
    "file, name",
    [
        ("other/main.py", "theirs: checkout"),
        ("rules.py", "game"),
        ("planes.py", "their planes: game"),
        ("net.py", "their net: network"),
        ("layers.py", "their net: network"),
        ("first.py", "their net: network"),
        ("", "keras"),
        ("", "processor"),
    ],
)
def test_what_has_changed_when_an_experiment_is_resumed_is_named(monkeypatch, tmp_path, file, name):
    own = "from games import tictactoe\n\nclass Own(tictactoe.TicTacToe):\n    pass\n"
    (tmp_path / "other").mkdir()
    texts = {"rules.py": own, "planes.py": own, "net.py": "import layers\n"}
    texts |= dict.fromkeys(("other/main.py", "layers.py", "first.py"), "")
    for path, text in texts.items():
        (tmp_path / path).write_text(text)
    (tmp_path / "plan.toml").write_text(MIXED.format(tmp_path))
    plan, folder = from_file(tmp_path / "plan.toml").with_whole_names(), tmp_path / "e"
    here = {**machine(), "keras": "1", "processor": "this"}
    monkeypatch.setattr("plugins.experiment.folder.machine", lambda: here)
    assert begin(folder, plan, "first") == [] == begin(folder, plan, "again")
    here["date"] = "2001-01-01"
    assert begin(folder, plan, "on another day") == [] and len(read_experiment(folder)[1]) == 1
    if file:
        (tmp_path / file).write_text(texts[file] + "x = 1\n")
    else:
        here = {**here, name: "another"}
    [words] = begin(folder, plan, "resumed")
    assert words.startswith(f"{name} ") and ", now " in words
    assert begin(folder, plan, "resumed") == [] and len(read_experiment(folder)[1]) == 2
    assert f"Not all of it was made alike: {words}." in experiment_report(folder, plan.game)


def test_each_seed_has_its_own_solved_positions(monkeypatch, tmp_path):
    """The interval divides the error of a seed's positions by the number of seeds, as if they were others."""
    values = {"game": "tictactoe", "minutes": 1, "seeds": 3, "positions": 40, "variants": varied("cpuct=1,2")}
    plan = from_values(values, "")
    drawn, used = [], []
    monkeypatch.setattr(measure, "player_of", lambda plan, job: nullcontext(job))
    monkeypatch.setattr(measure, "_match", lambda *_: [1.0, 0.0])
    monkeypatch.setattr(measure, "positions", lambda game, who, count, seed: drawn.append(seed) or [seed])

    def kept(plan, job, who, found):
        used.append((job.seed, found))
        return {"searched": "1"}

    monkeypatch.setattr(measure, "_kept", kept)
    measure.measure_all(plan, jobs(plan, tmp_path), tmp_path, Console(quiet=True))
    assert used == [(seed, [seed]) for seed in (0, 0, 1, 1, 2, 2)] and drawn == [0, 1, 2]
    measure.measure_all(plan, jobs(plan, tmp_path), tmp_path, Console(quiet=True))
    assert len(used) == 6 and drawn == [0, 1, 2], "what is known needs no positions"


@pytest.mark.parametrize("game, changes", [("othello(size=6)", {"endgame": 0}), ("tictactoe", {})])
def test_solved_endings_are_not_measured_by_the_searchs_own_solver(game, changes, monkeypatch, tmp_path):
    plan = from_values({"game": game, "minutes": 1, "seeds": 1, "variants": varied("cpuct=1,2")}, "")
    opened = []

    def player_of(plan, job, given):
        opened.append(given)
        return nullcontext(None)

    monkeypatch.setattr(measure, "player_of", player_of)
    monkeypatch.setattr(measure, "choose", lambda player, found: {0: []})
    measure._kept(plan, jobs(plan, tmp_path)[0], measure.oracle(games.make(game)), [])
    assert opened == [changes]


def test_without_a_solver_the_matches_answer_and_it_is_said_before_the_first_run(monkeypatch, tmp_path, place, capsys):
    def missing(game):
        raise UserError("expected bitbully")

    def run_all(plan, todo, say):
        assert "no solved positions: expected bitbully\n" in capsys.readouterr().out

    monkeypatch.setattr(measure, "oracle", missing)
    monkeypatch.setattr(runs, "run_all", run_all)
    monkeypatch.setattr(measure, "player_of", lambda plan, job: nullcontext(job))
    monkeypatch.setattr(measure, "_match", lambda *_: [0.0, 0.0])
    words = "--game", "tictactoe", "--vary", "cpuct=1,2", "--match-games", "2", "-o", str(tmp_path / "e")
    code, out, err = output_of(capsys, "experiment", *words)
    assert (code, err) == (0, "") and "cpuct=2 is better than cpuct=1" in out


@pytest.mark.parametrize(
    "line",
    [
        b"no JSON",
        b"\xff\xff",
        b"[1]",
        b'{"kind": "else", "seed": 0, "variants": [0, 1]}',
        b'{"kind": "match", "seed": 0, "variants": [0, 1], "scores": "x"}',
        b'{"kind": "match", "seed": 0, "variants": 3, "scores": [1]}',
        b'{"kind": "kept", "seed": 0, "variants": [0], "searched": 1}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_line_of_results_is_named(tmp_path, line):
    good = b'{"kind": "match", "seed": 0, "variants": [0, 1], "scores": [1.0, 0.0]}'
    file = tmp_path / measure.RESULTS
    file.write_bytes(good + b"\n" + line + b"\n" + good + b"\n")
    with pytest.raises(UserError) as error:
        measure.read_results(tmp_path)
    assert f"{file}: line 2: expected a result" in str(error.value) and "\n" not in str(error.value)
    file.write_bytes(good + b"\n" + line[:9])
    assert len(measure.read_results(tmp_path)) == 1, "a last line without its end is a kill's"


def test_a_point_that_is_left_out_takes_its_error_with_it():
    points, errors = [(1.0, 5.0), (2.0, float("nan")), (3.0, 6.0)], [1.0, 100.0, 2.0]
    whole = line_chart("", [Series("", points, 0, errors)], across="")
    assert whole == line_chart("", [Series("", points[::2], 0, errors[::2])], across="")
