"""Sweeps: what a file says, which trials are made, that a killed one resumes, and what the importance sees."""

import json
import tomllib

import pytest

from config import UserError
from loggers import Console
from plugins.experiment.plan import Plan, from_values
from plugins.experiment.statistics import effect
from plugins.sweep import search
from plugins.sweep.commands.sweep import _next
from plugins.sweep.search import Trial
from plugins.sweep.space import from_table
from support.command_line import output_of

pytest.importorskip("optuna")
FILE = {
    "game": "tictactoe",
    "seeds": 2,
    "minutes": 1,
    "match_games": 100,
    "trials": 12,
    "space": {"cpuct": {"low": 0.5, "high": 4.0}, "optimizer": ["muon", "adamw"], "proofs": [True, False]},
}


@pytest.fixture
def games(monkeypatch):
    """Matches in which a trial's score is 0.5 + cpuct / 10 whatever else it has; the runs that were wanted."""
    wanted = []

    def match_all(plan, jobs, folder, console):
        wanted.append([(job.seed, job.number) for job in jobs])
        number = max(job.number for job in jobs)
        share = round(100 * (0.5 + plan.variants[number].settings["cpuct"] / 10))
        scores = [0.0] * share + [1.0] * (100 - share)
        return [{"kind": "match", "seed": seed, "variants": [0, number], "scores": scores} for seed in (0, 1)]

    monkeypatch.setattr(search, "run_all", lambda plan, todo, say: None)
    monkeypatch.setattr(search, "match_all", match_all)
    return wanted


def trials(values, folder):
    search.begin(folder, from_table(values, "s.toml"))
    return search.run_trials(from_table(values, "s.toml"), folder, lambda text: None, Console(quiet=True))


def test_the_search_finds_what_is_better_and_which_setting_it_is(games, tmp_path):
    found = trials({**FILE, "trials": 30}, tmp_path)
    assert [t.number for t in found] == [*range(30)]
    assert all(wanted == [(0, 0), (0, n + 1), (1, n + 1), (1, 0)] for n, wanted in enumerate(games)), games[:2]
    best = max(found, key=lambda t: t.elo.mean)
    assert best.settings["cpuct"] > 3.4 and best.elo.mean > 200 and len(best.elo.seeds) == 2
    late, early = (sum(t.settings["cpuct"] for t in part) / 10 for part in (found[20:], found[:10]))
    assert late > early + 0.5, "later proposals have learned from earlier ones"
    assert {type(t.settings["proofs"]) for t in found} == {bool}
    shares = search.importance(tmp_path)
    assert next(iter(shares)) == "cpuct" and shares["cpuct"] > 0.6 and sum(shares.values()) == pytest.approx(1)


def test_a_trial_that_was_killed_is_made_again_with_the_same_settings(games, tmp_path):
    before = trials({**FILE, "trials": 3}, tmp_path / "killed")
    study = search.study_of(tmp_path / "killed")
    study.ask({})  # killed while it was proposed
    sweep = from_table(FILE, "")
    lost = study.ask(search._distributions(sweep.space))  # killed while it trained
    after = trials({**FILE, "trials": 5}, tmp_path / "killed")
    assert after[:3] == before
    assert [t.number for t in after] == [0, 1, 2, 4, 5] and after[3].settings["cpuct"] == lost.params["cpuct"]
    other = {**FILE, "space": {"cpuct": {"low": 0.5, "high": 5.0}}}
    with pytest.raises(UserError, match="-o names another folder"):
        trials(other, tmp_path / "killed")


def test_what_has_changed_when_a_sweep_is_resumed_is_named(monkeypatch, tmp_path):
    (tmp_path / "net.py").write_text("")
    values = {**FILE, "space": {"network": [f"{tmp_path}/net.py:One", f"{tmp_path}/net.py:Two"]}}
    sweep, folder = from_table(values, "s.toml"), tmp_path / "s"
    assert search.begin(folder, sweep) == [] == search.begin(folder, sweep)
    (tmp_path / "net.py").write_text("x = 1")
    assert [words.split()[0] for words in search.begin(folder, sweep)] == [
        f"{tmp_path}/net.py:{name}:" for name in ("One", "Two")
    ]
    monkeypatch.setattr("plugins.experiment.folder.processor_name", lambda: "another")
    [words] = search.begin(folder, sweep)
    assert words.endswith(", now another") and search.begin(folder, sweep) == []
    kept = json.loads((folder / search.KEPT).read_text())
    assert len(kept.pop("made")) == 3
    (folder / search.KEPT).write_text(json.dumps(kept))  # of an earlier version
    assert search.begin(folder, sweep) == []


def test_a_damaged_folder_is_named_in_one_line(games, tmp_path):
    trials({**FILE, "trials": 1}, tmp_path)
    journal = tmp_path / search.JOURNAL
    whole = journal.read_bytes()
    for damage in (b'{"op_code": 99, "worker_id": "x"}\n', b"[]\n" * 3):
        journal.write_bytes(damage + whole)
        with pytest.raises(UserError) as error:
            trials({**FILE, "trials": 2}, tmp_path)
        assert f"{journal}: expected Optuna's journal" in str(error.value) and "\n" not in str(error.value)
    journal.write_bytes(whole + whole[:20])
    assert len(trials({**FILE, "trials": 2}, tmp_path)) == 2, "a last line without its end is a kill's"
    (tmp_path / search.KEPT).write_bytes(b"[" * 100_000)
    with pytest.raises(UserError, match="-o names another folder"):
        trials(FILE, tmp_path)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"trials": 0}, "trials: expected a whole number from 1"),
        ({"space": {}}, "expected a table [space]"),
        ({"space": {"cpuc": [1, 2]}}, "did you mean 'cpuct'"),
        ({"space": {"seed": [1, 2]}}, "seed cannot vary"),
        ({"space": {"cpuct": [1]}}, "at least two values"),
        ({"space": {"cpuct": [1, -1]}}, "cpuct: expected a number from 0.01"),
        ({"space": {"cpuct": {"low": 1}}}, "expected a list of values, or {low"),
        ({"space": {"cpuct": {"low": 2, "high": 1}}}, "expected low < high"),
        ({"space": {"fpu_reduction": {"low": -1, "high": 1, "log": True}}}, "log = true with low > 0"),
        ({"space": {"mcts_sims": {"low": 8, "high": 16, "step": 0}}}, "step: expected"),
        ({"space": {"optimizer": {"low": 1, "high": 2}}}, "as it is no number"),
        ({"variants": {"a": {}}}, "expected [space] in their place"),
        ({"space": {"selfplay_with": ["current", "best"]}}, "selfplay_with: expected current where eval_every"),
        ({"minutes": 0}, "the compute of each run: one of them"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(change, words):
    with pytest.raises(UserError) as error:
        from_table({**FILE, **change}, "s.toml")
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("changes", [{}, {"match_games": 40, "sims": 8, "opening_plies": 2, "spread": 35.0}])
def test_the_plan_that_confirms_the_best_measures_as_the_sweep_did(changes):
    values = {**FILE, **changes}
    best = Trial(0, {"cpuct": 2.0}, effect([10.0, 20.0], [1.0, 1.0]))
    text = _next(from_table(values, "s.toml"), [best])
    plan = from_values(tomllib.loads(text[text.index("game =") :]), "next")
    for name in ("match_games", "sims", "opening_plies", "spread", "minutes"):
        assert getattr(plan, name) == values.get(name, getattr(Plan, name)), name
    assert ("sims" in text) == bool(changes)


def test_the_cost_is_said_and_without_optuna_what_to_install(place, capsys, tmp_path, monkeypatch):
    file = tmp_path / "s.toml"
    file.write_text('game = "connect4"\nseeds = 2\nevaluations = 1e6\ntrials = 10\n[space]\ncpuct = [1, 2]\n')
    code, out, err = output_of(capsys, "sweep", str(file), "--cost")
    assert (code, err) == (0, "") and out.endswith("22 runs of 1,000,000 evaluations, 22,000,000 evaluations\n")
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    code, out, err = output_of(capsys, "sweep", str(file))
    assert code == 2 and err == "error: sweep needs Optuna, which is not here: `pip install optuna`\n"
    assert list(place.iterdir()) == []
