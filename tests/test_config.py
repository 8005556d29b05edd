"""Settings: what is refused and how it is told, JSON, presets, the article's values."""

import dataclasses
import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import config as c
from config import Config, SettingsError, UserError, from_json, to_json, with_overrides
from interface.arguments import base_of
from network import cpu_features
from training import presets
from training.presets import preset

NUMBERS = [name for name, kind in c.TYPES.items() if kind in (int, float)]


def refused(values):
    """Return the lines with which settings are refused."""
    with pytest.raises(SettingsError) as raised:
        with_overrides(Config(), **values)
    return str(raised.value).splitlines()


# ---- JSON


@pytest.mark.parametrize("name", presets.PRESETS)
def test_a_preset_is_valid_and_comes_back_from_json_as_it_was(name):
    found = preset(name)
    assert from_json(to_json(found)) == found
    assert hash(from_json(to_json(found))) == hash(found)
    assert json.loads(to_json(found)).keys() == {f.name for f in dataclasses.fields(Config)}


def test_a_file_with_some_settings_gives_the_others_their_defaults():
    assert from_json('{"cpuct": 3, "hidden_cnn_layers": ["16x5"]}') == Config(
        cpuct=3, hidden_cnn_layers=("16x5",)
    )


@pytest.mark.parametrize("name", ["grow_sims", "endgame", "ownership_weight", "soft_policy_weight"])
def test_a_run_from_before_a_setting_goes_on_without_it(name):
    values = json.loads(to_json(Config(**{name: 1})))
    del values[name]
    assert from_json(json.dumps(values)) == Config(**{name: 0})


def test_a_run_from_before_weight_decay_was_a_setting_of_its_own_keeps_the_decay_that_it_had():
    values = json.loads(to_json(Config(reg_const=0.02, weight_decay=0.3)))
    assert from_json(json.dumps(values)).weight_decay == 0.3
    del values["weight_decay"]
    assert from_json(json.dumps(values)) == Config(reg_const=0.02, weight_decay=0.02)
    assert from_json('{"reg_const": 0.02}').weight_decay == Config().weight_decay, "no run's: no file lists so few"


def test_a_run_from_before_duplicates_had_a_weight_goes_on_without():
    values = json.loads(to_json(Config()))
    assert from_json(json.dumps(values)).duplicate_weight == "log"
    del values["duplicate_weight"]
    assert from_json(json.dumps(values)).duplicate_weight == "linear"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "3", '"x"', "{'cpuct': 1}", '{"cpuct": NaN}', '{"cpuct": Infinity}', '{"cpuct": 1e999}',
     '{"seed": 1.0}', '{"seed": true}', '{"global_pooling": 1}', '{"seed": null}', '{"seed": 1' + "0" * 5000 + "}",
     '{"seed": 1' + "0" * 400 + "}", '{"game": ["connect4"]}', '{"game": "connect4\\n"}', '{"game": "\\ud800"}',
     '{"optimizer": {"a": 1}}', '{"hidden_cnn_layers": "64x3"}', '{"hidden_cnn_layers": []}', '{"": 1}',
     '{"hidden_cnn_layers": ["64x3", "32x3"]}', '{"hidden_cnn_layers": [64]}', '{"hidden_cnn_layers": {"64x3": 1}}',
     '{"hidden_cnn_layers": ["64x\\u0663"]}', '{"hidden_cnn_layers": ["64x3\\n"]}'],
)  # fmt: skip
def test_text_that_is_no_valid_settings_is_refused_and_the_file_named(text):
    with pytest.raises(SettingsError) as raised:
        from_json(text, "there/config.json")
    assert all(line.startswith("there/config.json: ") for line in str(raised.value).splitlines())
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize("where", ['{"seed": %s}', '{"hidden_cnn_layers": [%s]}', '{"nonsense": %s}', "%s"])
def test_json_of_any_depth_is_refused_without_another_exception(where):
    for depth in [1, 10, *range(300, 1100, 7), 100_000]:
        with pytest.raises(SettingsError):
            from_json(where % ("[" * depth + "]" * depth))


# ---- what is refused


def nested(depth):
    return [nested(depth - 1)] if depth else []


NO_NUMBERS = [float("nan"), float("inf"), -float("inf"), True, False, "1", None, [], {}, 1j, b"1", nested(300),
              10**400, -(10**400), 10**5000]  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_number_in_the_range_is_refused_for_every_number(name):
    for value in NO_NUMBERS:
        (line,) = refused({name: value})
        assert line.startswith(f"{name}: expected ") and len(line) < 200
        with pytest.raises(SettingsError):
            Config(**{name: value})


@pytest.mark.parametrize("name", NUMBERS)
def test_the_ends_of_a_range_are_allowed_and_a_step_beyond_is_not(name):
    low, high = c.FIELDS[name].metadata["low"], c.FIELDS[name].metadata["high"]
    others = (
        {"min_memory": 1} if name == "memory_size" else {"memory_size": 10**8} if name == "min_memory" else {}
    )
    for value in (low, high):
        value = value if c.TYPES[name] is int else float(value)
        assert getattr(with_overrides(Config(), **{name: value}, **others), name) == value
    for value in (low - 1, high + 1):
        assert refused({name: value, **others})[0].startswith(f"{name}: expected")


def test_a_fraction_is_no_whole_number_but_a_whole_number_is_a_number():
    assert refused({"seed": 1.0}) == ["seed: expected a whole number from 0 to 2,147,483,647, got 1.0"]
    assert with_overrides(Config(), cpuct=2).cpuct == 2


def test_all_faults_are_told_at_once():
    lines = refused({"episodes": 0, "cpuct": "big", "optimizer": "adam", "xyz": 1, "global_pooling": 0})
    told = {"unknown setting 'xyz'", "episodes", "cpuct", "optimizer", "global_pooling"}
    assert {line.split(":")[0] for line in lines} == told and len(lines) == 5


def test_settings_that_exclude_each_other_are_refused():
    (line,) = refused({"memory_size": 100, "min_memory": 101})
    assert "min_memory: expected at most memory_size (100), got 101" == line
    with pytest.raises(SettingsError):
        Config(memory_size=100)


def test_a_network_of_more_weights_than_memory_holds_is_refused_before_it_is_built():
    (line,) = refused({"hidden_cnn_layers": ["999x9"] * 80})
    assert line == "hidden_cnn_layers: expected at most 500,000,000 weights, got about 12,934,092,960"
    with_overrides(Config(), hidden_cnn_layers=("256x3",) * 40)


@pytest.mark.parametrize(
    "typed, meant",
    [("mcts_sim", "mcts_sims"), ("cpuckt", "cpuct"), ("learningrate", "learning_rate"), ("EPISODES", None)],
)
def test_the_nearest_name_is_suggested(typed, meant):
    (line,) = refused({typed: 1})
    assert line == f"unknown setting {typed!r}" + (f", did you mean {meant!r}?" if meant else "")


def test_an_unknown_preset_suggests_the_nearest():
    with pytest.raises(UserError, match="got 'clasic'; did you mean 'classic'"):
        preset("clasic")


def test_a_setting_called_like_a_parameter_of_a_function_is_refused_as_any_other():
    assert refused({"config": 1})[0].startswith("unknown setting 'config'")
    with pytest.raises(SettingsError, match="unknown setting 'name'"):
        preset("tiny", **{"name": 1})


def test_a_config_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config().cpuct = 2.0


def test_layers_given_as_a_list_equal_the_same_layers_as_a_tuple():
    found = with_overrides(Config(), hidden_cnn_layers=["8x3", "8x5"])
    assert found == Config(hidden_cnn_layers=("8x3", "8x5")) and hash(found)
    assert c.layers(found) == [(8, 3), (8, 5)]
    assert c.differences(found, Config(hidden_cnn_layers=("8x3", "8x5"))) == {}


def test_differences_are_told_as_old_and_new():
    new = with_overrides(Config(), cpuct=2.0, seed=5)
    assert c.differences(Config(), new) == {"cpuct": (1.25, 2.0), "seed": (0, 5)}
    assert c.is_fixed("seed") and not c.is_fixed("cpuct")


# ---- the article


def test_classic_has_the_values_of_the_article():
    """AppliedDataSciencePartners/DeepReinforcementLearning, config.py."""
    article = {
        "episodes": 30, "mcts_sims": 50, "memory_size": 30_000, "turns_until_tau0": 10, "cpuct": 1, "epsilon": 0.2,
        "alpha": 0.8, "batch_size": 256, "reg_const": 0.0001, "learning_rate": 0.1, "momentum": 0.9,
        "training_loops": 10, "eval_episodes": 20, "scoring_threshold": 1.3, "hidden_cnn_layers": ("75x4",) * 6,
    }  # fmt: skip
    classic = preset("classic")
    assert {name: getattr(classic, name) for name in article} == article
    assert (classic.optimizer, classic.normalisation, classic.promotion) == ("sgd", "batch", "threshold")
    assert (classic.policy_filters, classic.value_filters, classic.value_units) == (2, 1, 20)


# ---- anything at all

junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("flags, native, tiles", [
    ("flags : avx2 amx_bf16", True, True), ("flags : avx512_bf16", True, False), ("flags : avx2", False, False),
    ("", False, False),
])  # fmt: skip
def test_what_a_processor_computes_is_read_off_its_flags(monkeypatch, flags, native, tiles):
    monkeypatch.setattr(cpu_features, "processor_flags", lambda: flags)
    assert (cpu_features.native_bfloat16(), cpu_features.has_tiles()) == (native, tiles)


@pytest.mark.parametrize("tiles, filters", [(True, "64x3"), (False, "32x3")])
def test_laptop_has_a_smaller_network_on_a_processor_without_amx(monkeypatch, tiles, filters, tmp_path):
    monkeypatch.setattr(presets, "has_tiles", lambda: tiles)
    own = shutil.copy("examples/nim.py", tmp_path / "gomoku.py")
    assert preset("laptop").hidden_cnn_layers == (filters,) * 6
    for game in ("connect4(rows=5)", f"{own}:Nim", "go", "gomoku(size=8)", "othello"):
        assert preset("laptop", game=game).hidden_cnn_layers == (filters,) * 6
    for game in ("TicTacToe", " gomoku", "Gomoku( size=8 )", "gomoku"):
        assert preset("laptop", game=game).games_in_flight == 128
    for game in (f"{own}:Nim", f"{own}", "open_spiel:go", "connect4", "mine"):
        assert preset("laptop", game=game).games_in_flight == 256, game
    assert preset("laptop", hidden_cnn_layers=("16x3",) * 2).hidden_cnn_layers == ("16x3",) * 2
    monkeypatch.setattr(presets, "has_tiles", lambda: True)
    large_gomoku = preset("laptop", game="gomoku")
    for name, game in (("gpu", "connect4"), ("laptop", "tictactoe"), ("tiny", "tictactoe"), ("classic", "connect4")):
        monkeypatch.setattr(presets, "has_tiles", lambda: True)
        usual = preset(name, game=game)
        monkeypatch.setattr(presets, "has_tiles", lambda: False)
        assert preset(name, game=game) == usual
    assert {*c.differences(preset("laptop", game="gomoku"), large_gomoku)} == {"hidden_cnn_layers"}


def test_a_presets_reanalysis_is_left_out_where_that_is_impossible():
    assert preset("laptop").reanalyse_share > 0
    several = "connect4(rows=4..5,columns=4..6)"
    for changes in ({"lag": 1}, {"game": several}, {"game": "connect4", "lag": 1}):
        config = preset("laptop", **changes)
        assert config.reanalyse_share == 0
        assert base_of(["--game", changes.get("game", "connect4"), "--lag", str(changes.get("lag", 0))]) == preset(
            "laptop", **{"game": "connect4", **changes}
        )
    with pytest.raises(c.SettingsError, match="lag: expected 0 with reanalyse_share, which"):
        preset("laptop", lag=1, reanalyse_share=0.1)


def test_a_run_whose_games_would_always_be_those_of_the_untrained_network_is_refused():
    with pytest.raises(c.SettingsError, match="selfplay_with: expected current where eval_every"):
        preset("classic", eval_every=c.NO_TOURNAMENT)
    assert preset("classic", eval_every=c.NO_TOURNAMENT - 1).selfplay_with == "best"


# ---- settings of earlier versions


def test_a_setting_of_an_earlier_version_is_refused_by_name_and_dropped_from_files():
    assert refused({"surprise_weight": 0.5}) == [
        "surprise_weight: left with version 0.4.0, as it gained nothing (benchmarks/log/README.md)"
    ]
    text = json.dumps({**dataclasses.asdict(Config(cpuct=2.0)), **c.REMOVED})
    assert c.from_json(text) == Config(cpuct=2.0) and c.removed_settings(text) == {}
    text = json.dumps({**json.loads(text), "surprise_weight": 0.5, "epochs": "x"})
    assert c.from_json(text) == Config(cpuct=2.0)
    assert c.removed_settings(text) == {"surprise_weight": 0.5, "epochs": "x"}
    assert not c.REMOVED.keys() & c.FIELDS.keys()


def sensible(name):
    kind, limits = c.TYPES[name], c.FIELDS[name].metadata
    if kind is int:
        return st.integers(limits["low"] - 1, limits["high"] + 1)
    if kind is float:
        return st.floats(limits["low"] - 1, limits["high"] + 1)
    if kind is bool:
        return st.booleans()
    if kind is str:
        return st.sampled_from(["connect4", "tictactoe(a=1)", "a b", ""])
    if name == "network":
        return st.sampled_from([None, "mine.py:Net", "", "a\nb"])
    if name == "hidden_cnn_layers":
        return st.lists(st.sampled_from(["8x3", "8x5", "16x3", "0x3"]), max_size=4)
    return st.sampled_from([*c.typing.get_args(kind), "else"])


one = st.sampled_from([*c.FIELDS]).flatmap(lambda name: st.tuples(st.just(name), sensible(name) | junk))
dicts = st.lists(one | st.tuples(st.text(max_size=12), junk), max_size=8).map(dict)


@settings(derandomize=True, max_examples=300, deadline=None, database=None)
@given(dicts)
def test_any_settings_are_refused_or_give_a_config_that_holds_them(values):
    try:
        found = with_overrides(Config(), **values)
    except SettingsError as error:
        assert c.find_faults({**dataclasses.asdict(Config()), **values}) == str(error).splitlines()
        with pytest.raises(SettingsError):
            from_json(json.dumps(values))
    else:
        assert c.find_faults(dataclasses.asdict(found)) == []
        read = from_json(json.dumps(values))
        assert read == found and from_json(to_json(found)) == found
        for name, value in values.items():
            assert getattr(found, name) == (tuple(value) if isinstance(value, list) else value)


@settings(derandomize=True, max_examples=200, deadline=None, database=None)
@given(
    st.text(max_size=40) | st.binary(max_size=40).map(lambda b: b.decode("latin-1")) | junk.map(json.dumps)
)
def test_any_text_is_refused_or_gives_a_config(text):
    try:
        assert isinstance(from_json(text), Config)
    except SettingsError:
        pass
