"""Your own games that break their contract, one rule at a time: one line names it, and nothing else is wrong."""

import re

import numpy as np
import pytest

import games
from agent import Agent
from config import Config, UserError
from evaluation.game_contract import check, checked
from evaluation.match import play_batch
from game import in_order
from memory import Memory
from network.device import Plan
from players.by_name import make_player
from storage.game_exchange import fault as fault_by_rules
from support.command_line import SMALL, output_of
from support.hostile_game import IN_PLAY, IN_SEARCH, LIMITS
from support.hostile_rules import FAULTS
from support.own_games import compiled, plain
from training.selfplay import SelfPlay

WORDS = {
    "plies": "max_plies=5", "endless": "max_plies=6", "cycle": "max_plies=6", "cycle-again": "max_plies=6",
    "player": "player|result", "value": "-1 to 1", "nan": "-1 to 1", "value-text": "-1 to 1", "id-list": "unhashable",
    "nothing": "takeAction", "winning": "`winning`", "safe-count": "`safe`", "safe-move": "`safe`", "solve": "`solve`",
    "playout": "`playout`", "playout-nan": "`playout`",
}  # fmt: skip
"""What the error of a fault says; of all others: which actions or planes were expected."""
OF_SEARCH = ("winning", "safe-count", "safe-move", "solve")
OF_PLAYOUT = ("playout", "playout-nan")
IN_RULES = [name for name in FAULTS if name not in ("right", "start", "writes", *OF_SEARCH, *OF_PLAYOUT)]


def words(fault):
    return WORDS.get(fault, "allowedActions|legal moves|planes")


def network(game):
    """Return a predictor that knows nothing."""
    return lambda planes: (np.zeros(len(planes), np.float32), np.zeros((len(planes), game.action_size), np.float32))


def played(spec, count=40, plan=None, **changes):
    """Yield the games of self-play as they end."""
    game = games.make(spec)
    config = Config(
        game=spec, mcts_sims=8, fast_sims=4, games_in_flight=8, cache_size=64, memory_size=100, min_memory=10, **changes
    )
    yield from SelfPlay(game, config, plan=plan).play(network(game), [(i, i) for i in range(count)])


@pytest.mark.parametrize("make, fault", [
    *((plain, name) for name in (*IN_PLAY, *IN_SEARCH)), *((compiled, name) for name in (*IN_RULES, *OF_SEARCH)),
])  # fmt: skip
def test_self_play_ends_with_the_broken_rule(make, fault):
    refused_in_self_play(make(fault), fault)


@pytest.mark.parametrize(
    "changes", [{"gumbel": 4}, {"random_opening_share": 1.0, "random_opening_plies": 100}], ids=str
)
@pytest.mark.parametrize("make", [plain, compiled])
@pytest.mark.parametrize("fault", ["plies", "endless", "cycle", "high", "no-moves"])
def test_self_play_of_another_kind_ends_so_too(make, fault, changes):
    refused_in_self_play(make(fault), fault, **changes)


def refused_in_self_play(spec, fault, **changes):
    with pytest.raises(UserError, match=f"{re.escape(spec)}: (?s:.*)({words(fault)})") as told_of:
        list(played(spec, **changes))
    assert len(str(told_of.value).splitlines()) == 1


def players_of(game):
    """Return players that need each of the compiled searches, and one that needs none."""
    searching = Agent("network", game, network(game), mcts_sims=16)
    return searching, *(make_player(name, game) for name in ("random", "greedy", "rollout:30", "alphabeta:8"))


@pytest.mark.parametrize("number", range(5), ids=["network", "random", "greedy", "rollout", "alphabeta"])
@pytest.mark.parametrize("make, fault", [
    *((plain, name) for name in IN_PLAY if name not in ("id-list", "nothing")),
    *((compiled, name) for name in IN_RULES),
])  # fmt: skip
def test_a_match_ends_with_the_broken_rule(make, fault, number):
    game = games.make(make(fault))
    player = players_of(game)[number]
    with pytest.raises(UserError, match=words(fault)):
        play_batch(game, (player, make_player("random", game)), [(i, [], i % 2 == 0) for i in range(4)], seed=1)


@pytest.mark.parametrize("name", ["greedy", "rollout:30"])
@pytest.mark.parametrize("fault", OF_PLAYOUT)
def test_a_random_game_ends_with_the_broken_rule(fault, name):
    game = games.make(compiled(fault))
    with pytest.raises(UserError, match="`playout`"):
        make_player(name, game).act(game.start(), 0)


def test_games_that_ended_before_the_broken_rule_are_those_of_the_right_game():
    right = {game.index: game for game in played(plain("right"), 200, random_opening_share=1.0)}
    ended = []
    few = Plan(threads=1, games=8)  # of many at once one meets the fault before any other ends
    with pytest.raises(UserError, match="max_plies=6"):
        for game in played(plain("rarely"), 200, few, random_opening_share=1.0):
            ended += [game]
    rules = games.make(plain("right"))
    assert ended
    for game in ended:
        twin = right[game.index]
        assert game.moves.tolist() == twin.moves.tolist() and game.result == twin.result
        assert np.array_equal(game.visits, twin.visits) and np.array_equal(game.values, twin.values)
        assert fault_by_rules(rules, game) == ""


@pytest.mark.parametrize("fault", ["id", "mutate"])
def test_no_game_that_the_rules_do_not_confirm_comes_out_of_self_play(fault):
    rules, ended = games.make(plain("right")), []
    with pytest.raises(UserError, match=re.escape(plain(fault))):
        for game in played(plain(fault)):
            ended.append(fault_by_rules(rules, game))
    assert not any(ended)


@pytest.mark.parametrize("argv", [
    ["train", "--new", *SMALL], ["match", "random", "greedy", "--games", "2"], ["evaluate", "rollout:16"],
    ["bench", "--preset", "tiny"], ["book", "-o", "book.json"],
], ids=lambda argv: argv[0])  # fmt: skip
def test_each_command_that_plays_refuses_such_a_game_first(argv, place, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = output_of(capsys, *argv, "--game", plain("endless"))
    assert (code, out) == (2, "") and len(err.splitlines()) == 1
    assert "length of a game" in err and f"`python main.py check '{plain('endless')}'` lists all faults" in err
    assert list(place.rglob("*.db")) == []


@pytest.mark.parametrize("fault", [*IN_PLAY, *IN_SEARCH, "id", "mutate", "owners", "order"])
def test_check_finds_each_fault_in_plain_python(fault):
    assert check(games.make(plain(fault)), games=20)


@pytest.mark.parametrize("fault", [name for name in FAULTS if name not in ("right", "start")])
def test_check_finds_each_fault_in_compiled_rules(fault):
    assert check(games.make(compiled(fault)), games=20)


@pytest.mark.parametrize("make", [plain, compiled])
def test_a_game_that_keeps_its_contract_passes(make):
    spec = make("right")
    assert check(games.make(spec), games=20) == []
    game = games.make(spec)
    assert checked(game) is game
    assert len(list(played(spec))) == 40


def test_a_fault_that_spoils_no_game_does_not_end_a_run():
    game = games.make(plain("planes-numbers"))
    assert check(game, games=2) and checked(game) is game


def test_a_position_that_comes_again_is_found_before_the_game_is_too_long():
    found = check(games.make(plain("cycle")), games=3)
    assert any(line.startswith("id within a game") and "max_plies" in line for line in found)


def test_a_rule_that_writes_outside_its_array_is_named():
    assert check(games.make(compiled("writes"))) == ["memory: encode writes outside its `out` (after 0 moves)"]


@pytest.mark.parametrize("fault", [*LIMITS, "symmetry"])
def test_sizes_that_no_table_holds_are_refused_when_the_game_is_loaded(fault, place, capsys):
    for argv in (["check", plain(fault)], ["train", "--new", *SMALL, "--game", plain(fault)]):
        code, out, err = output_of(capsys, *argv)
        assert (code, out) == (2, "") and len(err.splitlines()) == 1
        assert err.startswith(f"error: {plain(fault)}: expected ")
    assert list(place.iterdir()) == []


def test_a_start_position_that_is_over_is_refused():
    with pytest.raises(UserError, match="start position"):
        games.make(compiled("start"))


def test_owners_of_another_shape_are_refused_before_they_are_trained_on():
    memory = Memory(games.make(plain("owners")), 100, ownership=True)
    game = next(iter(played(plain("owners"))))
    with pytest.raises(UserError, match="owners"):
        memory.positions(game)


@pytest.mark.parametrize("moves, good", [
    ([0], True), ([0, 2, 4], True), ([], False), ([1, 0], False), ([2, 2], False), ([-1, 0], False), ([4, 5], False),
])  # fmt: skip
def test_moves_are_in_order(moves, good):
    out = np.full(5, 3, np.int32)
    out[: len(moves)] = moves
    assert in_order(out, len(moves)) == in_order.py_func(out, len(moves)) == good
    assert not in_order(out, 6) and not in_order(out, -3)
