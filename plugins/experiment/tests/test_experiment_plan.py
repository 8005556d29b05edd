"""Plans: what they say, what each run of them gets, and what is refused."""

import json
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import pytest

from config import UserError
from loggers import Console
from plugins.experiment import measure
from plugins.experiment.answer import _evaluations, cells, power, rows, sentences
from plugins.experiment.folder import begin, read_experiment
from plugins.experiment.plan import from_file, from_values, varied
from plugins.experiment.runs import jobs
from support.command_line import output_of

PLAN = """
game = "tictactoe"
seeds = 2
self_play_games = 96
match_games = 10

[settings]
episodes = 24

[variants.base]

[variants."a smaller network"]
hidden_cnn_layers = ["8x3", "8x3"]
proofs = false
"""


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    return from_file(tmp_path / "plan.toml")


def test_each_run_gets_its_settings_its_seed_and_equal_compute(plan):
    base, other = plan.variants
    assert [plan.config(v, 1).iterations for v in plan.variants] == [4, 4]
    assert plan.config(other, 1).hidden_cnn_layers == ("8x3", "8x3") and plan.config(base, 1).seed == 1
    assert plan.config(base, 0).score_every == 0 and not plan.config(other, 0).proofs
    words = plan.arguments(other, 1)
    assert words[:4] == ["--preset", "tiny", "--game", "tictactoe"] and "--no-proofs" in words
    at = words.index("--hidden-cnn-layers")
    assert words[at + 1 : at + 3] == ["8x3", "8x3"] and words[words.index("--seed") + 1] == "1"


def test_minutes_are_the_limit_of_every_run():
    plan = from_values({"game": "connect4", "minutes": 10, "variants": varied("cpuct=1.0,1.6")}, "")
    assert [plan.config(v, 0).minutes for v in plan.variants] == [10, 10]
    assert [plan.config(v, 0).cpuct for v in plan.variants] == [1.0, 1.6]
    assert plan.config(plan.base, 0).iterations == 10**6


def test_the_order_of_variants_rotates_from_seed_to_seed(tmp_path):
    plan = from_values({"game": "tictactoe", "minutes": 1, "variants": varied("cpuct=1,2,3")}, "")
    found = jobs(plan, tmp_path)
    assert [[j.number for j in found if j.seed == seed] for seed in (0, 1, 2)] == [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    assert len({job.root for job in found}) == 9


@pytest.mark.parametrize(
    "change, words",
    [
        ({"minutes": 5}, "one of them"),
        ({"evaluations": 5}, "one of them"),
        ({"evaluations": -1, "self_play_games": 0}, "evaluations: expected a number from 0"),
        ({"settings": {"evaluations": 1}}, "evaluations belongs to the plan"),
        ({"self_play_games": 0}, "one of them"),
        ({"self_play_games": 100}, "a multiple of the episodes of variant 'base' (24)"),
        ({"match_games": 7}, "an even number"),
        ({"seeds": 0}, "seeds: expected a whole number from 1"),
        ({"sedes": 2}, "did you mean 'seeds'"),
        ({"variants": {"base": {}}}, "at least two tables"),
        ({"variants": {"a": {}, "b": {"first": {"share": 0.5, "seed": 7}}}}, "first: seed belongs to the plan"),
        ({"variants": {"a": {}, "b": {"checkout": "~nobody is called so/x"}}}, "checkout: expected a folder"),
        ({"variants": {"base": {}, "b": {"cpuct": -1}}}, "variant 'b': cpuct: expected a number from 0.01"),
        ({"variants": {"base": {}, "b": {"cpuc": 1}}}, "did you mean 'cpuct'"),
        ({"variants": {"base": {}, "b": {"seed": 1}}}, "seed belongs to the plan"),
        ({"variants": {"base": {}, "../b": {}}}, "expected a variant's name"),
        ({"settings": {"minutes": 1}}, "minutes belongs to the plan"),
        ({"settings": 3}, "expected a table [settings]"),
        ({"variants": {"base": {}, "b": {"episodes": 0}}}, "variant 'b': episodes: expected a whole number from 1"),
        ({"variants": varied("selfplay_with=current,best")}, "selfplay_with: expected current where eval_every"),
        ({"variants": varied("promotion=sprt,threshold")}, "promotion: expected tournaments"),
        ({"variants": varied("scoring_threshold=1.1,1.3")}, "scoring_threshold: expected tournaments"),
        ({"variants": varied("sprt_score=0.52,0.55")}, "sprt_score: expected tournaments"),
        ({"variants": varied("eval_episodes=20,40")}, "eval_episodes: expected tournaments"),
        ({"settings": {"episodes": 24, "selfplay_with": "best"}}, "expected current where eval_every"),
        ({"settings": {"episodes": 24, "selfplay_with": "best", "eval_every": 4}}, "expected tournaments"),
        (
            {"variants": {"base": {}, "b": {"first": {"share": 0.5, "episodes": 40}}}},
            "variant 'b' (24) to be left after the 40 games of its first part, got 56",
        ),
        (
            {"self_play_games": 24, "variants": {"base": {}, "b": {"first": {"share": 0.5}}}},
            "to be left after the 24 games of its first part, got 0",
        ),
        ({"game": 3}, 'expected game = "NAME"'),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(change, words):
    values = {
        "game": "tictactoe",
        "self_play_games": 96,
        "settings": {"episodes": 24},
        "variants": {"base": {}, "b": {"cpuct": 2}},
    }
    with pytest.raises(UserError) as error:
        from_values({**values, **change}, "plan.toml")
    assert words in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("vary", ["selfplay_with=current,best", "promotion=sprt,threshold", "eval_episodes=20,40"])
@pytest.mark.parametrize("budget", [{"minutes": 1}, {"self_play_games": 96}])
def test_settings_of_tournaments_are_compared_where_there_are_some(vary, budget):
    values = {"game": "tictactoe", "variants": varied(vary), "settings": {"episodes": 24, "eval_every": 3}, **budget}
    plan = from_values(values, "")
    assert [plan.config(variant, 0).eval_every for variant in plan.variants] == [3, 3]


@pytest.mark.parametrize(
    "first, parts",
    [({}, [2, 3]), ({"share": 0.1}, [1, 4]), ({"share": 0.9}, [4, 1]), ({"share": 0.4, "episodes": 12}, [4, 3])],
)
def test_two_parts_play_as_many_games_together_as_one(first, parts):
    values = {"game": "tictactoe", "self_play_games": 120, "settings": {"episodes": 24}}
    variants = {"base": {}, "b": {"first": {"share": 0.5, **first}}}
    plan = from_values({**values, "variants": variants}, "")
    configs = [plan.config(plan.variants[1], 0, part) for part in (0, 1)]
    assert [config.iterations for config in configs] == parts
    assert sum(config.iterations * config.episodes for config in configs) == plan.self_play_games


def test_another_plan_does_not_go_on_in_a_folder(plan, tmp_path):
    assert not begin(tmp_path / "e", plan, "python main.py experiment plan.toml")
    kept, made = read_experiment(tmp_path / "e")
    assert kept == plan
    assert made[0]["command"] == "python main.py experiment plan.toml"
    assert not begin(tmp_path / "e", plan, "again")
    other = from_values(
        {"game": "tictactoe", "self_play_games": 48, "variants": {"a": {}, "b": {}}, "settings": {"episodes": 24}}, ""
    )
    with pytest.raises(UserError, match="-o names another folder"):
        begin(tmp_path / "e", other, "")


def test_a_file_that_is_no_experiment_is_refused(tmp_path):
    for text in ("", "[]", '{"plan": 3}', json.dumps({"plan": {"variants": [3]}, "made": []})):
        (tmp_path / "experiment.json").write_text(text)
        with pytest.raises(UserError):
            read_experiment(tmp_path)
    with pytest.raises(UserError, match="expected an experiment"):
        read_experiment(tmp_path / "nothing")


@pytest.mark.parametrize(
    "budget, cost, each",
    [
        ({"minutes": 30}, "11.0 core-hours", "30 minutes of a core"),
        ({"minutes": 30, "cores": 2}, "22.0 core-hours", "30 minutes of 2 cores"),
        ({"evaluations": 3e6}, "66,000,000 evaluations", "3,000,000 evaluations"),
        ({"self_play_games": 10240}, "225,280 games of self-play", "10,240 games of self-play"),
    ],
)
def test_power_and_cost_are_said_before_the_start(budget, cost, each):
    plan = from_values({"game": "connect4", "seeds": 3, "variants": varied("cpuct=1,2"), **budget}, "")
    said = "\n".join(power(plan))
    assert "With 3 seeds a difference of 98 Elo is seen in four of five experiments." in said
    assert f"to see 30 Elo: 11 seeds, {cost}\n" in said and "does not stop early" in said
    assert plan.budget == each


def test_evaluations_are_the_limit_of_every_run_and_are_typed_too(place, capsys):
    plan = from_values({"game": "connect4", "evaluations": 3e6, "variants": varied("cpuct=1.0,1.6")}, "")
    for variant in plan.variants:
        config = plan.config(variant, 0)
        assert (config.evaluations, config.minutes, config.iterations) == (3e6, 0, 10**6)
        words = plan.arguments(variant, 0)
        assert float(words[words.index("--evaluations") + 1]) == 3e6
    code, out, err = output_of(
        capsys, "experiment", "--vary", "cpuct=1,2", "--evaluations", "3e6", "--first-seed", "5", "--power"
    )
    assert (code, err) == (0, "") and out.startswith("2 variants, 3 seeds: 6 runs of 3,000,000 evaluations\n")


def test_evaluations_are_those_of_self_play_and_of_reanalysis():
    assert _evaluations({"self_play_evaluations": 500, "reanalyse_evaluations": 20}) == 520
    assert _evaluations({"self_play_evals_per_s": 100.0, "self_play_seconds": 3.0}) == 300, "of an earlier version"


def results_of(plan, elo):
    """Return results of a round robin in which each variant is better than the one before by about `elo`."""
    found = []
    for seed in plan.seed_numbers():
        for a in range(len(plan.variants)):
            for b in range(a + 1, len(plan.variants)):
                share = 1 / (1 + 10 ** ((b - a) * elo / 400))
                won = round(share * plan.match_games) + seed % 2
                scores = [1.0] * won + [0.0] * (plan.match_games - won)
                found.append({"kind": "match", "seed": seed, "variants": [a, b], "scores": scores[::2] + scores[1::2]})
    return found


@pytest.mark.parametrize("values", ["1,2", "1,2,3"])
@pytest.mark.parametrize("elo, word", [(120, "better"), (-120, "worse")])
def test_the_answer_has_the_sign_of_the_difference(tmp_path, elo, word, values):
    plan = from_values({"game": "tictactoe", "minutes": 1, "seeds": 4, "variants": varied(f"cpuct={values}")}, "")
    found = rows(plan, jobs(plan, tmp_path), results_of(plan, elo))
    assert found[0].elo is None
    assert [row.elo.mean for row in found[1:]] == pytest.approx([elo, 2 * elo][: plan.comparisons], abs=15)
    said = sentences(plan, found)
    assert all(f"is {word} than cpuct=1 by" in line and "certain at 95 %" in line for line in said)
    assert cells(plan, found)[1][:3] == ["cpuct=1", "0", "0"]


def test_a_small_difference_is_not_called_certain(tmp_path):
    plan = from_values({"game": "tictactoe", "minutes": 1, "seeds": 3, "variants": varied("cpuct=1,2")}, "")
    said = sentences(plan, rows(plan, jobs(plan, tmp_path), results_of(plan, 5)))
    assert "with 3 seeds the sign is not certain" in said[0]
    alone = from_values({"game": "tictactoe", "minutes": 1, "seeds": 1, "variants": varied("cpuct=1,2")}, "")
    assert "one seed" in sentences(alone, rows(alone, jobs(alone, tmp_path), results_of(alone, 200)))[0]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nowhere.toml",),
        ("--vary", "cpuct=1,x"),
        ("--vary", "cpuct"),
        ("--vary", "cpuc=1,2"),
        ("--vary", "cpuct=1"),
        ("--vary", "cpuct=1.25,1.25"),
        ("--vary", "hidden_cnn_layers=8x3,16x3"),
        ("--vary", "cpuct=1,2", "--set", "episodes=1,2"),
        ("--vary", "cpuct=1,2", "--game", "nothing"),
        ("--vary", "game=tictactoe,hex(size=3)", "--game", "tictactoe"),
        ("--vary", "game=tictactoe,connect4", "--game", "tictactoe"),
        ("plan.toml", "--seeds", "3"),
        ("--vary", "cpuct=1,2", "--minutes", "-1"),
    ],
)
def test_a_wrong_command_line_leaves_nothing_behind(place, capsys, words):
    code, out, err = output_of(capsys, "experiment", *words)
    assert code == 2 and out == "" and err.startswith("error: ") and err.count("\n") == 1
    assert list(place.iterdir()) == []


def test_equals_are_said_to_differ_by_nothing(tmp_path):
    plan = from_values({"game": "tictactoe", "minutes": 1, "seeds": 2, "variants": varied("cpuct=1,2")}, "")
    scores = [1.0, 0.0] * 100
    results = [{"kind": "match", "seed": s, "variants": [0, 1], "scores": scores} for s in (0, 1)]
    found = rows(plan, jobs(plan, tmp_path), results)
    assert sentences(plan, found)[0].startswith("cpuct=2 and cpuct=1 differ by 0 Elo [")
    assert cells(plan, found)[2][2].startswith("+0 [-")


def test_openings_and_chance_of_a_seed_are_not_those_of_another(monkeypatch, tmp_path):
    """Were they the same, what they do to one match they would do to all, and the seeds would agree by chance."""
    plan = from_values(
        {
            "game": "tictactoe",
            "minutes": 1,
            "seeds": 3,
            "positions": 0,
            "match_games": 4,
            "variants": varied("cpuct=1,2,3"),
        },
        "",
    )
    used = []
    monkeypatch.setattr(measure, "player_of", lambda plan, job: nullcontext(job))
    monkeypatch.setattr(measure, "contest", lambda *_, seed, **__: used.append(seed) or [1.0, 0.0])
    found = measure.measure_all(plan, jobs(plan, tmp_path), tmp_path, Console(quiet=True))
    assert used == [0, 0, 0, 1, 1, 1, 2, 2, 2] and found == measure.read_results(tmp_path)
    assert measure.measure_all(plan, jobs(plan, tmp_path), tmp_path, Console(quiet=True)) == found and len(used) == 9


@pytest.mark.parametrize("most, opened", [(8, 8), (3, 16), (2, 24)])
def test_players_of_a_seed_stay_open_from_match_to_match_but_not_too_many(most, opened, monkeypatch, tmp_path):
    variants = varied("cpuct=1,2,3,4")
    values = {"game": "tictactoe", "minutes": 1, "seeds": 2, "positions": 0, "match_games": 4, "variants": variants}
    plan = from_values(values, "")
    entered, here = [], set()

    @contextmanager
    def player_of(plan, job):
        entered.append(job.number)
        here.add(job.number)
        yield SimpleNamespace(game=None, number=job.number)
        here.remove(job.number)

    def contest(_, players, *__, **___):
        assert {each.number for each in players} <= here and len(here) <= most
        return [1.0, 0.0]

    monkeypatch.setattr(measure, "player_of", player_of)
    monkeypatch.setattr(measure, "contest", contest)
    monkeypatch.setattr(measure, "OPEN", most)
    measure.measure_all(plan, jobs(plan, tmp_path), tmp_path, Console(quiet=True))
    assert len(entered) == opened and not here
