"""Levels of play: measured by their games, at least 100 Elo from each other; those of the players that ship."""

import json

import numpy as np
import pytest

import games
from evaluation import level_games
from evaluation.level_games import APART, GAMES_FILE, LADDER, LINKS, chosen, measure_levels, pairs, read_games
from evaluation.match import contest
from evaluation.rating import elo
from network.predictor import STEADY
from players.by_name import level_player, make_player
from players.levels import (
    FILE,
    MORE_NAMES,
    NAMES,
    USUAL,
    Level,
    boards_of,
    file_on,
    find_level,
    level_number,
    names_of,
    read_levels,
)
from players.tempered import winning_move
from storage.run_folders import SHIPPED, shipped_run
from support.board_drawings import play
from support.command_line import output_of

FOLDERS = sorted(path.parent for path in SHIPPED.glob("*/*/config.json"))
BOARDS = [pytest.param(each, board, id=board.spec) for each in FOLDERS for board in boards_of(each)]
NAMED = "connect4", "gomoku", "othello", "go", "othello(size=6)", "go(komi=24.5)"
"""Games whose levels are measured until the error of each is below 40."""


def ladder(*players):
    return [Level(player, 0, 0.0, 0.0) for player in players]


def results(elos, games_each=400):
    """Return games of a ladder in which every score is exactly as expected."""
    line = [LINKS[0], *ladder(*(f"rollout:{i}" for i in range(1, len(elos) + 1)))]
    rated = [level._replace(elo=value) for level, value in zip(line, (0.0, *elos), strict=True)]
    played = {}
    for weaker, stronger in zip(rated, rated[1:], strict=False):
        won = games_each / (1 + 10 ** ((weaker.elo - stronger.elo) / 400))
        played[stronger.how, weaker.how] = [1.0] * round(won) + [0.0] * (games_each - round(won))
    return rated[1:], played


def test_levels_are_rated_by_their_games(tmp_path, monkeypatch):
    game, said, file = games.make("tictactoe"), [], tmp_path / GAMES_FILE
    found = measure_levels(game, count=40, ladder=ladder("rollout:8", "rollout:128"), file=file, report=said.append)
    assert found[-1].player == "rollout:128" and found[-1].name == "Master" and found[-1].elo > 0
    played = read_games(file)
    assert len(played) == len(said) == 7 and {len(scores) for scores in played.values()} <= {160, 40, 10}
    monkeypatch.setattr(level_games, "contest", None)  # all games are known
    assert measure_levels(game, count=40, ladder=ladder("rollout:8", "rollout:128"), file=file) == found


def test_neighbours_play_most_and_cheap_players_more():
    found = list(pairs(ladder("rollout:64", "rollout:99", "rollout:999"), 40))
    named = {(weaker.player, stronger.player): count for weaker, stronger, count in found}
    assert named == {
        ("random", "rollout:4"): 160, ("random", "rollout:16"): 160, ("rollout:4", "rollout:16"): 160,
        ("rollout:4", "rollout:64"): 160, ("rollout:16", "rollout:64"): 40, ("rollout:16", "rollout:99"): 10,
        ("rollout:64", "rollout:99"): 40, ("rollout:64", "rollout:999"): 10, ("rollout:99", "rollout:999"): 40,
    }  # fmt: skip
    networks = [Level(*words, 0.0, 0.0) for words in (("net:shipped", 0), ("net:shipped", 0), ("shipped", 9))]
    found = list(pairs([networks[0], networks[1]._replace(temperature=1.0), networks[2]], 40))[-5:]
    assert [(weaker.how, stronger.how, count) for weaker, stronger, count in found] == [
        ("rollout:16", "net:shipped", 160),
        ("rollout:16", "net:shipped, temperature 1", 40),
        ("net:shipped", "net:shipped, temperature 1", 160),
        ("net:shipped", "shipped, 9 simulations", 10),
        ("net:shipped, temperature 1", "shipped, 9 simulations", 40),
    ]


@pytest.mark.parametrize("wins_all_below, last", [(4, 16), (16, 64), (64, 256), (256, 1024), (10**6, 1024)])
def test_a_lowest_level_that_wins_nearly_all_games_meets_stronger_players(monkeypatch, wins_all_below, last):
    """Else its distance to random moves is known to some 400 Elo only, as in gomoku 15x15."""

    def match(game, first, second, count, plies, seed):
        below = second.player == "random" or int(second.player.split(":")[1]) <= wins_all_below
        return [1.0] * count if first.player == "rollout:9999" and below else [1.0, 0.0] * (count // 2)

    said = []
    monkeypatch.setattr(level_games, "_match", match)
    lowest_two = ladder("rollout:9999", "rollout:99999")
    measure_levels(games.make("tictactoe"), count=40, ladder=lowest_two, report=said.append)
    assert len(said) == len({line.split(": ")[0] for line in said}), "each pair plays once"
    assert f"rollout:9999 against rollout:{last}: " in "\n".join(said)
    assert not any(f"against rollout:{4 * last}:" in line for line in said)


def test_levels_are_at_least_100_elo_from_each_other():
    levels, played = results([120.0, 200.0, 310.0, 330.0, 440.0])
    assert [level.elo for level in chosen(levels, played)] == [200.0, 330.0, 440.0]
    assert [level.name for level in chosen(levels, played)] == ["Beginner", "Club", "Master"]
    assert [level.name for level in chosen(levels[:1], played)] == ["Master"] and chosen([], played) == []


def test_of_many_levels_those_stay_that_are_furthest_apart():
    levels, played = results([100.0 * i + (60 if i == 4 else 0) for i in range(1, 10)])
    found = chosen(levels, played)
    assert [level.name for level in found] == names_of(USUAL) == [name for name in NAMES if name not in MORE_NAMES]
    assert found[0].elo == 100 and found[-1].elo == 900 and min(np.diff([level.elo for level in found])) >= APART


@pytest.mark.parametrize(
    ("elos", "expected"),
    [
        (range(0, 2000, 290), 7),
        (range(0, 2500, 290), 9),
        ([*range(0, 2400, 200), 2399], 10),
        (range(0, 6000, 310), 10),
        ([0, 900, 1800, 2700], 4),
    ],
)
def test_where_neighbours_would_be_far_apart_more_levels_stay(elos, expected):
    levels, played = results([100.0 + elo for elo in elos])
    found = chosen(levels, played)
    assert [level.name for level in found] == names_of(expected)
    assert (found[0].elo, found[-1].elo) == (levels[0].elo, levels[-1].elo)


def test_the_error_is_that_of_the_distance_to_the_level_below():
    levels, played = results([200.0, 400.0, 600.0], games_each=400)
    p = 1 / (1 + 10 ** (-200 / 400))
    alone = 1.96 * 400 / np.log(10) / np.sqrt(400 * p * (1 - p))
    assert [level.error for level in chosen(levels, played)] == pytest.approx([alone] * 3, abs=1)


def test_a_level_is_found_by_its_number_and_its_name(place, capsys):
    folder = place.parent / "shipped" / "tictactoe" / "run0001"
    folder.mkdir(parents=True)
    for name in ("config.json", "run.db"):
        (folder / name).write_bytes((SHIPPED / "tictactoe" / "run0001" / name).read_bytes())
    rows = [Level("random", 0, 0.0, 1.0, 0.0, "Beginner"), Level("rollout:9", 0, 300.0, 9.0, 0.0, "Master")]
    (folder / FILE).write_text(json.dumps({"levels": [row._asdict() for row in rows]}))
    assert find_level("tictactoe", 2).name == "Master" and level_number("tictactoe", "MASTER") == 2
    assert make_player("level:master", games.make("tictactoe")).name == "level 2 (Elo 300)"
    assert make_player("level 2 (Elo 300)", games.make("tictactoe")).name == "level 2 (Elo 300)"
    code, out, _ = output_of(capsys, "levels", "--game", "tictactoe")
    assert code == 0 and out.splitlines()[1] == "level:2  Master: Elo 300 ±9 (rollout:9)"
    code, _, err = output_of(capsys, "play", "--game", "tictactoe", "--against", "level:club")
    assert code == 2 and "(level:1 to level:2, level:beginner, level:master), got level:club" in err


# ---- the levels that ship


@pytest.mark.parametrize("folder, board", BOARDS)
def test_levels_that_ship_are_apart_and_follow_from_their_games(folder, board):
    levels, played = read_levels(board.spec), read_games(file_on(folder, board, GAMES_FILE))
    distances = np.diff([0.0, *(level.elo for level in levels)])
    assert (distances[1:] >= APART).all() and distances[0] > 0
    assert levels[-1].player == "shipped" and levels[-1].temperature == 0 and levels[-1].sims == LADDER[-1].sims
    assert len({level.name for level in levels}) == len(levels) and levels[-1].name == "Master"
    assert chosen(level_games.rated(levels, played), played) == levels
    if board.spec in NAMED:
        assert len(levels) >= USUAL and all(0 < level.error < 40 for level in levels)


def test_each_player_that_ships_has_levels():
    assert [folder for folder in FOLDERS if not boards_of(folder)] == []


@pytest.mark.parametrize("folder, game", BOARDS)
def test_each_level_moves(folder, game):
    state = game.start()
    for number, level in enumerate(read_levels(game.spec)[:-1], 1):
        player = make_player(f"level:{number}", game)
        player.new_games(1)
        player.new_game(0, 7)
        action, _, value, _ = player.act(state, 0.0)
        assert action in state.allowedActions and -1 <= value <= 1, level
        state = state.takeAction(action)[0]


WINS = [
    ("connect4", "4 1 4 1 4 1"), ("connect4", "1 2 1 2 1 3 7 2 7"), ("connect4", "4 4 3 3 2 2"),
    ("gomoku", "a1 e5 a2 e6 a3 e7 a9 e8 i9"), ("gomoku", "e5 a1 f6 a2 g7 b9 h8 i1"),
]  # fmt: skip


@pytest.mark.parametrize("spec, moves", WINS)
def test_no_level_overlooks_a_win_at_once(spec, moves):
    game = games.make(spec)
    state = play(game, moves)
    assert winning_move(game, state) is not None
    for level in read_levels(spec)[:-1]:
        player = level_player(level, game)
        player.new_games(20)
        for slot in range(20):
            player.new_game(slot, slot)
        for decision in player.act_many(range(20), [state] * 20, [0.0] * 20):
            assert state.takeAction(decision.action)[0].isEndGame, level


def test_levels_play_as_strongly_as_they_were_measured():
    game = games.make("connect4")
    folder = shipped_run("connect4")
    first, second = (read_levels("connect4")[i] for i in (1, 0))
    scores = read_games(folder / GAMES_FILE)[first.how, second.how]
    again = contest(
        game, (level_player(first, game, smallest=STEADY), level_player(second, game, smallest=STEADY)), 60, seed=5,
        opening_plies=2,
    )  # fmt: skip
    share = np.mean(scores)
    assert abs(np.mean(again) - share) < 5 * np.sqrt(share * (1 - share) / 60)
    assert elo(share) == pytest.approx(first.elo - second.elo, abs=60)
