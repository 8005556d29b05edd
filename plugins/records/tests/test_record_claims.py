"""The records: what ships is whole and true to its sources, what cannot be is refused, a judge right or wrong."""

from types import SimpleNamespace

import numpy as np
import pytest

import games
from config import UserError
from plugins.records import check
from plugins.records.check import folder_of, judged_right, measure_of
from plugins.records.commands.record import _as_toml
from plugins.records.goals import SHIPPED, read_goals
from support.command_line import output_of
from system.place import HERE

GOALS = read_goals(SHIPPED)
SMALL_HEX = "LLW WWW WLL"
"""Openings of Hex 3x3 that win for the player who opens, as tests/games/test_hex.py finds them by search."""


def test_each_record_that_ships_has_reached_its_goal_and_its_log_has_the_figures():
    for goal in GOALS.values():
        if goal.measure != "kept":  # whose positions take a minute to draw
            assert measure_of(goal, games.make(goal.game)) is not None
        for record in goal.records:
            assert record.figure >= goal.goal and [record.minutes, record.figure] in map(list, record.curve)
            assert record.planned >= record.minutes - 1 and record.command and record.commit and record.date
            path, _, heading = record.log.partition("#")
            text = (HERE / path).read_text()
            assert f"{record.figure:g}" in text and record.commit in text and heading.split("-")[0] in text.lower()


def test_openings_are_judged_by_the_value_of_a_search():
    game = games.make("hex(size=3)")
    wins = np.array([point == "W" for point in SMALL_HEX.replace(" ", "")])

    class Judge:
        """Gives the win to whom `verdict` says, from the side of the player to move, who did not open."""

        def __init__(self, verdict):
            self.game, self.verdict, self.seen = game, verdict, []

        def new_games(self, slots):
            self.slots = slots

        def new_game(self, slot, seed):
            pass

        def observe(self, slot, action):
            self.seen.append(action)

        def act_many(self, slots, states, taus):
            return [SimpleNamespace(value=-1.0 if won else 1.0) for won in self.verdict]

    judge = Judge(wins)
    assert judged_right(judge, wins) == 100 and judge.seen == [*range(9)] and judge.slots == 9
    assert judged_right(Judge(~wins), wins) == 0
    assert judged_right(Judge([*wins[:-1], True]), wins) == pytest.approx(100 * 8 / 9)


GOAL = """
[mine]
about = "a goal"
game = "tictactoe"
measure = "kept"
goal = 90
sims = 8
positions = 40
[[mine.records]]
minutes = 1
"""


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("goal = 90", "goal = 190", "mine: goal: expected a number from 0 to 100"),
        ("goal = 90", "gaol = 90", "did you mean 'goal'"),
        ('"kept"', '"guessed"', "expected measure out of kept, score, openings"),
        ('"kept"', "[1]", "expected measure out of kept, score, openings"),
        ('"kept"', '"score"', "mine: expected games\nr.toml: mine: expected opponent"),
        ("minutes = 1", "minutes = 0", "mine: minutes: expected"),
        ("minutes = 1", "figure = 1", "mine: expected minutes"),
        ("minutes = 1", "minutes = 1\nseeds = [-1]", "seeds: expected a list of whole numbers"),
        ("minutes = 1", "minutes = 1\ncurve = [[1]]", "curve: expected pairs"),
        ("minutes = 1", "minutes = 1\nsettings = {cpuct = -1}", "settings: cpuct: expected"),
        ("minutes = 1", 'minutes = 1\nsettings = {network = "theirs.py:Net"}', "got a network of a file"),
        ("[mine]", "[mine", "expected TOML"),
    ],
)
def test_a_file_with_a_fault_is_refused(tmp_path, old, new, words):
    (tmp_path / "r.toml").write_text(GOAL.replace(old, new))
    with pytest.raises(UserError) as error:
        read_goals(tmp_path / "r.toml")
    assert words in str(error.value)


def test_the_table_has_a_line_for_each_goal_and_what_has_no_record_says_so(place, capsys, tmp_path):
    code, out, err = output_of(capsys, "record")
    lines = {line.split(":")[0].removeprefix("| "): line for line in out.splitlines() if line.startswith("| ")}
    assert (code, err) == (0, "") and set(GOALS) <= set(lines)
    assert "60 minutes of 2 cores | 98.3 %" in lines["connect4"] and "22.1 minutes of 2 cores" in lines["hex7"]
    (tmp_path / "mine.toml").write_text(GOAL.partition("[[")[0])
    code, out, err = output_of(capsys, "record", "--file", str(tmp_path / "mine.toml"))
    assert code == 0 and "| mine: a goal | no record yet" in out
    code, out, err = output_of(capsys, "record", "--file", str(tmp_path / "mine.toml"), "--check", "mine")
    assert code == 2 and "nobody has one" in err and err.count("\n") == 1
    code, out, err = output_of(capsys, "record", "--check", "conect4")
    assert code == 2 and f"expected a goal out of {', '.join(GOALS)}, got 'conect4'" in err
    assert list(place.iterdir()) == []


def test_a_game_of_a_file_that_a_claim_names_is_not_run(place, capsys, tmp_path):
    (tmp_path / "theirs.py").write_text(f"open({str(tmp_path / 'it ran')!r}, 'w')\n")
    (tmp_path / "r.toml").write_text(GOAL.replace('"tictactoe"', f'"{tmp_path}/theirs.py:Game"'))
    code, _, err = output_of(capsys, "record", "--file", str(tmp_path / "r.toml"), "--check", "mine")
    assert code == 2 and err.count("\n") == 1 and not (tmp_path / "it ran").exists()


def test_another_claim_has_another_folder_and_so_has_another_program_or_machine(monkeypatch):
    goal = GOALS["gomoku9"]
    record = goal.best
    assert folder_of(goal, record) == folder_of(goal, record)
    others = [record.__class__(minutes=5), record.__class__(minutes=50, settings={"cpuct": 2})]
    found = {folder_of(goal, each) for each in (record, *others)}
    for name in ("sources_digest", "processor_name"):
        monkeypatch.setattr(check, name, lambda: "another")
        found.add(folder_of(goal, record))
    assert len(found) == 5


@pytest.mark.parametrize(
    "claim, trained, reached",
    [
        ("minutes = 60", [20.0, 40.0, 60.4013], [60.41, 60]),
        ("minutes = 60.0", [20.0, 59.0], [59.0, 60]),
        ("minutes = 10\nof = 60", [8.3748, 10.001, 60.4], [8.38, 60]),
        ("minutes = 8.375\nof = 9.0000001", [8.3748, 8.3759, 9.1], [8.375, 9.0000001]),
    ],
)
def test_what_a_check_prints_is_a_claim_that_the_next_check_confirms(monkeypatch, tmp_path, claim, trained, reached):
    lines = [{"version": n, "total_seconds": 60 * minutes} for n, minutes in enumerate(trained)]
    job = SimpleNamespace(seed=0, root=tmp_path, name="seed 0", metrics=lambda: lines)
    monkeypatch.setattr(check, "Agent", str)
    monkeypatch.setattr(check, "make_player", lambda name, *_, **__: name)
    (tmp_path / "r.toml").write_text(GOAL.replace("minutes = 1", claim))
    first = read_goals(tmp_path / "r.toml")["mine"]

    def checked(goal):
        return check._checked(job, None, goal, goal.best, lambda agent: 90.0 + int(agent.removeprefix("version")))

    found = checked(first)
    (tmp_path / "r.toml").write_text(GOAL.partition("[[")[0] + _as_toml(first, first.best, [found]))
    again = read_goals(tmp_path / "r.toml")["mine"]
    assert [again.best.minutes, again.best.of] == reached and list(again.best.curve[-1]) == [reached[0], found.percent]
    assert folder_of(again, again.best) == folder_of(first, first.best)
    assert checked(again) == found
