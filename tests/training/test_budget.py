"""Sizes follow from the minutes of a run, and settings of an unknown game from what random games say of it."""

import pytest

import config as c
import games
from config import Config, has_range
from game import Game, GameState
from interface.arguments import base_of, fitted_to, parse
from interface.commands import train
from interface.commands.train import Train
from players.by_name import run_folder
from storage.run_folders import read_config
from training import presets, unknown_game
from training.budget import FEWEST_GAMES, ITERATIONS, searched_plies, seconds_of_position
from training.presets import as_options, fitted, preset, unfitted

BUILT_IN = ("connect4", "gomoku", "othello", "othello(size=6)", "go", "hex(size=7..9)")
NIM = "examples/nim.py:Nim"


def iterations_of(config, core_minutes):
    game = games.make(config.game)
    return 60 * core_minutes / (config.episodes * searched_plies(game, config) * seconds_of_position(game, config))


@pytest.mark.parametrize("spec", BUILT_IN)
def test_an_hour_of_two_cores_has_the_sizes_of_the_preset(spec):
    assert c.differences(preset("laptop", game=spec), preset("laptop", 2, game=spec, minutes=60)).keys() == {"minutes"}


@pytest.mark.parametrize("spec", BUILT_IN)
@pytest.mark.parametrize("minutes", [1, 3, 10])
def test_a_run_of_few_minutes_has_enough_iterations_and_all_else_in_proportion(spec, minutes):
    whole, short = preset("laptop", game=spec), preset("laptop", 1, game=spec, minutes=minutes)
    share = short.episodes / whole.episodes
    assert 0 < share <= 1
    assert iterations_of(short, minutes) >= ITERATIONS * 0.9 or short.episodes == FEWEST_GAMES
    assert short.memory_size / whole.memory_size == pytest.approx(share, rel=0.01)
    assert short.min_memory / whole.min_memory == pytest.approx(share, rel=0.01)
    assert c.differences(whole, short).keys() <= {*presets.FITTED, "minutes"}
    assert has_range(spec) == short.many_sizes


def test_more_minutes_and_more_cores_are_never_smaller():
    found = [preset("laptop", cores, minutes=m).episodes for cores, m in ((1, 1.5), (1, 2), (2, 2), (2, 8), (8, 8))]
    assert found == sorted(found) and found[0] < found[-1] == Config.episodes


def test_a_minute_of_a_core_has_half_of_the_filters():
    whole = preset("laptop").hidden_cnn_layers
    half = tuple(f"{int(layer.split('x')[0]) // 2}x{layer.split('x')[1]}" for layer in whole)
    assert preset("laptop", 1, minutes=1).hidden_cnn_layers == half
    assert preset("laptop", 4, minutes=0.25).hidden_cnn_layers == half
    assert preset("laptop", 1, minutes=1.5).hidden_cnn_layers == whole
    assert preset("laptop", 1, minutes=1, hidden_cnn_layers=whole).hidden_cnn_layers == whole
    assert preset("laptop", 1, minutes=1, hidden_cnn_layers=("12x3", "12x3")).hidden_cnn_layers == ("12x3", "12x3")


def test_what_somebody_chose_stays():
    found, whole = preset("laptop", 1, minutes=1, episodes=777, grow_sims=3), preset("laptop")
    assert (found.episodes, found.grow_sims) == (777, 3)
    assert (found.memory_size, found.min_memory) == (whole.memory_size, whole.min_memory), "they suit these games"
    assert preset("laptop", 1, minutes=0.1, min_memory=90_000).memory_size == 90_000
    chosen = fitted(preset("laptop", grow_sims=3, episodes=777), ["episodes", "grow_sims"])
    assert (chosen.episodes, chosen.grow_sims) == (777, 3)


@pytest.mark.parametrize(
    ("game", "changes"),
    [
        ("connect4", {"minutes": 3.0}),
        ("connect4", {"minutes": 3.0, "episodes": 1024, "global_pooling": True}),
        ("gomoku", {"cpuct": 2.0}),
        (NIM, {}),
        (NIM, {"minutes": 1.0, "gumbel": 0}),
    ],
)
def test_the_options_of_a_run_start_it_with_the_same_settings_on_other_cores(game, changes, monkeypatch):
    config = preset("laptop", 7, game=game, **changes)
    argv = ["--game", game, *as_options(config)]
    monkeypatch.setattr(presets, "has_tiles", lambda: True)  # another processor
    assert fitted_to(argv, parse(Train, argv, Train(base_of(argv))).config) == config


def test_options_are_written_in_one_order():
    config = preset("laptop", 7, game=NIM, minutes=3.0)
    names = [word[2:].replace("-", "_") for word in as_options(config) if word.startswith("--")]
    first = [*c.differences(unfitted("laptop", game=NIM), config)]
    rest = [name for name in dict.fromkeys((*presets.FITTED, *presets.OF_GAME)) if name not in first]
    assert names == [*first, *rest] and len(rest) > 2


def test_what_cannot_change_stays_as_a_run_began_that_is_resumed_with_its_preset(monkeypatch, tmp_path):
    resumed = []
    monkeypatch.setattr(train, "_session", lambda folder, args, config: resumed.append(config) or 1 / 0)
    began = preset("laptop", 1, minutes=3.0, ownership_weight=0.0, value_filters=4, seed=5)
    (tmp_path / "config.json").write_text(c.to_json(began))
    monkeypatch.setattr("storage.run_folders.run_to_change", lambda spec, number: tmp_path)
    monkeypatch.setattr(train, "_require_free", lambda folder: None)
    monkeypatch.setattr("storage.run_folders.game_of", lambda folder, config: None)
    with pytest.raises(ZeroDivisionError):
        train.run(["--preset", "laptop", "--minutes", "3", "--run", "1"])
    assert c.differences(began, resumed[0]) == {}


def test_what_follows_from_minutes_and_from_an_unknown_game_is_listed():
    fits = {"game": "metasquares", "minutes": 0.1}  # its simulations grow
    changed = c.differences(unfitted("laptop", game="metasquares"), preset("laptop", 1, **fits))
    assert changed.keys() - {"minutes"} == set(presets.FITTED)
    for spec in ("connect4", "gomoku", NIM):
        assert unknown_game.settings_for(games.make(spec)).keys() <= set(presets.OF_GAME)


@pytest.mark.parametrize("name", ["tiny", "classic", "gpu"])
def test_other_presets_do_not_follow_the_minutes(name):
    assert c.differences(preset(name), preset(name, 1, minutes=1)).keys() == {"minutes"}


@pytest.mark.parametrize(
    ("argv", "follows"),
    [
        (["--memory-size", "5000"], False),
        (["--memory_size=5000"], False),
        (["--preset", "laptop", "--min-memory", "5000"], True),
        (["--preset=gpu"], False),
        ([], True),
    ],
)
def test_an_option_that_is_given_stays_however_it_is_written(argv, follows):
    found = fitted_to(argv, unfitted("laptop", minutes=0.5))
    assert (found.memory_size != Config.memory_size) == follows


def test_a_short_run_that_begins_with_another_network_has_its_layers(monkeypatch):
    """In a minute of a core it would have half of the filters, and the network would not fit."""
    started = []
    monkeypatch.setattr(train, "_session", lambda folder, args, config: started.append(config) or 1 / 0)
    words = ["--new", "--initial-run-number", "0", "--initial-model-version", "34", "--minutes", "0.01"]
    for given in [], ["--hidden-cnn-layers", "8x3", "8x3"]:
        with pytest.raises(ZeroDivisionError):
            train.run([*words, *given])
    theirs = read_config(run_folder(games.make("connect4"), 0))
    assert started[0].hidden_cnn_layers == theirs.hidden_cnn_layers and started[0].episodes < theirs.episodes
    assert started[1].hidden_cnn_layers == ("8x3", "8x3")


# ---- games without a preset


def test_a_game_of_few_moves_is_like_connect4_and_one_of_many_like_gomoku():
    few, many = (unknown_game.settings_for(games.make(spec)) for spec in ("connect4", "gomoku"))
    assert "gumbel" not in few and many["gumbel"] == 16
    assert {name: preset("laptop", game="gomoku").__getattribute__(name) for name in unknown_game.MANY_MOVES} == {
        name: many[name] for name in unknown_game.MANY_MOVES
    }


def test_an_own_game_gets_settings_of_its_own_and_the_same_ones_each_time():
    found = preset("laptop", game=NIM)
    assert found == preset("laptop", game=NIM)
    length = unknown_game.facts_of(games.make(NIM)).plies
    assert found.random_opening_plies < length / 2 and found.turns_until_tau0 <= length
    assert found.min_memory <= found.episodes * length, "an iteration is enough to begin with"
    assert preset("laptop", 1, game=NIM, minutes=0.1).episodes < found.episodes


class Stuck(GameState):
    """A position whose move leads nowhere, or fails."""

    id, playerTurn, allowedActions, isEndGame, value = 0, 1, [0], False, 0.0

    def __init__(self, fails):
        self.fails = fails

    def takeAction(self, action):
        if self.fails:
            raise ZeroDivisionError
        return self, 0.0, False


class Faulty(Game):
    name, grid_shape, input_shape, action_size, max_plies = "faulty", (1, 1), (1, 1, 1), 1, 7

    def __init__(self, fails):
        self.fails = fails

    def start(self):
        return Stuck(self.fails)


@pytest.mark.parametrize("fails", [False, True])
def test_a_game_with_a_fault_is_left_to_its_check(fails):
    assert unknown_game.facts_of(Faulty(fails)).plies == Faulty.max_plies
