"""Players and stored games of runs on the page."""

import pytest

import games
from games.line_of_moves import after_moves
from plugins.page.run_reader import (
    iterations,
    list_games,
    metrics,
    newest_game,
    series,
    standing,
    stored_game,
)
from plugins.page.web_players import Roster, budgets, choose


def test_players_are_listed_and_made_by_name(trained, monkeypatch):
    monkeypatch.setattr("storage.run_folders.RUNS", trained.parent.parent)
    monkeypatch.setattr("storage.run_folders.SHIPPED", trained.parent.parent / "none")
    roster = Roster()
    names = roster.players("tictactoe")
    assert {"random", "greedy", "rollout", "alphabeta", "solver"} <= set(list(names))
    assert "run0001:best" in names
    assert roster.strongest("tictactoe") == "run0001:best" and roster.strongest("metasquares") == "rollout"
    game = games.make("tictactoe")
    a, b = (roster.make("run0001:best", game, "25") for _ in range(2))
    assert a is not b and a.predictor is b.predictor, "one network, two trees"
    for name in ("random", "greedy", "alphabeta", "solver", "uct", "rollout", "run0001:best"):
        for level in [{"sims": "25", "plies": "3", "seconds": "0.20s"}[unit] for unit in budgets(name)] or [""]:
            move, value = choose(roster.make(name, game, level), level, game.start(), [], lambda: False)
            assert move in range(9)
    for name in ("run0009:best", "../run0001:best", "run0001:version9999x", ""):
        with pytest.raises((ValueError, Exception), match="expected|invalid"):
            roster.make(name, game, "25")


def test_a_run_is_read_as_it_stands(trained):
    now = standing(trained)
    assert now.finished and now.process is None and now.iteration == 5
    lines = metrics(trained)
    assert [m["iteration"] for m in lines] == [1, 2, 3, 4]
    assert [p.y for p in series(lines, "self_play_plies")] == [m["self_play_plies"] for m in lines]
    assert iterations(trained) == [4, 3, 2, 1]


def test_runs_that_ship_are_listed_last_and_played_against_by_a_name_of_their_own(trained_place, monkeypatch):
    from evaluation.release import pack
    from plugins.page import web_players
    from storage import run_folders

    target = pack(run_folders.find_run("tictactoe"), 4)
    assert list(web_players.named_runs()) == ["tictactoe/run0001", "shipped/tictactoe/run0001"]
    roster, game = Roster(), games.make("tictactoe")
    assert roster.strongest("tictactoe") == "shipped/run0001:best", "until another is measured to be stronger"
    monkeypatch.setattr("storage.run_folders.RUNS", trained_place / "none")
    assert web_players.named_runs() == {"shipped/tictactoe/run0001": target}
    assert roster.strongest("tictactoe") == "shipped/run0001:best" and "tictactoe" in roster.games()[:1]
    assert budgets("shipped/run0001:best") and not budgets("shipped/person")
    move, _ = choose(roster.make("shipped/run0001:best", game, "25"), "25", game.start(), [], lambda: False)
    assert move in range(9)


def test_levels_are_players_with_a_budget_of_their_own(trained_place, monkeypatch):
    from evaluation.release import pack, write_levels
    from players.levels import FILE, Level
    from storage import run_folders

    target = pack(run_folders.find_run("tictactoe"), 4)
    found = [Level("rollout:9", 0, -5.0, 1.0), Level("net:shipped", 0, 3.0, 1.0), Level("shipped", 24, 310.4, 40.0)]
    write_levels(target / FILE, found, 10)
    settings = (target / "config.json").read_text()
    (target / "config.json").write_text(settings.replace('"endgame": 0', '"endgame": 9'))
    roster, game = Roster(), games.make("tictactoe")
    names = [name for name in roster.players("tictactoe") if name.startswith("level:")]
    assert names == ["level:1", "level:2", "level:3"] and not any(map(budgets, names))
    assert roster.players("tictactoe")["level:3"] == "level 3 (Elo 310)"
    players = [roster.make(name, game, "") for name in names]
    for player in players:
        assert choose(player, "", game.start(), [], lambda: False)[0] in range(9)
    assert players[0].trees(0)[0].root.visits == 9 and players[2].MCTS.root.visits == 24
    assert players[2].rng.random() != roster.make(names[2], game, "").rng.random(), "another game each time"
    assert '"endgame": 0' in settings and players[2].MCTS.forest.solver.leaf_ply == game.max_plies, "as measured"
    (target / "levels.json").write_text("{")
    assert not any(name.startswith("level:") for name in roster.players("tictactoe")), "the page goes on without"


def test_stored_games_are_games_by_the_rules_with_the_searchs_values(trained):
    rows = list_games(trained, 2, "self-play")[1]
    assert len(rows) >= 8
    for row in rows[:5]:
        stored = stored_game(trained, 2, row.number)
        end = after_moves(stored.record.game, stored.record.moves)
        assert end.isEndGame and end.value * end.playerTurn == row.result == stored.record.result
        count = len(row.moves)
        assert stored.record.moves == row.moves and set(stored.values) <= set(range(count))
    assert newest_game(trained).record.players[0] == "iteration 4"
