"""The live console: how much of a phase is done and what is left of it, from the last one of its name too."""

import re

import pytest

import loggers
from loggers import Console, clock


@pytest.fixture
def time(monkeypatch):
    """A clock that a test turns."""
    now = [1000.0]
    monkeypatch.setattr(loggers.time, "monotonic", lambda: now[0])
    return now


def seconds_left(line):
    """Return the seconds that a line of a phase tells, None where it tells none."""
    found = re.search(r"(?:(\d+):)?(\d+):(\d+) left", line)
    return int(found[1] or 0) * 3600 + int(found[2]) * 60 + int(found[3]) if found else None


def shown(console, time, capsys, steps, *, total=100, name="self-play", before=0):
    """Run a phase by (seconds, steps done by then); return what each update told."""
    told, began = [], time[0]
    with console.phase(name, total, before) as phase:
        for seconds, done in steps:
            time[0] = began + seconds
            phase.update(done, games_per_s=1.0)
            told.append(seconds_left(capsys.readouterr().out))
    return told


def test_without_a_phase_before_what_is_left_goes_by_what_is_done(time, capsys):
    console = Console(every=0.0)
    assert shown(console, time, capsys, [(5, 0), (10, 10), (20, 50), (30, 90)]) == [None, 90, 20, 3]


def test_games_that_have_begun_count_as_in_the_phase_before(time, capsys):
    console = Console(every=0.0)
    shown(console, time, capsys, [(10, 10), (40, 100)])
    assert shown(console, time, capsys, [(5, 0), (10, 2), (20, 40), (39, 98)]) == [35, 39, 24, 1]
    assert shown(console, time, capsys, [(5, 0)], total=200) == [75], "a pace, not a time"
    assert shown(console, time, capsys, [(5, 0)], name="retraining") == [None]


def test_a_phase_that_was_cut_short_or_gone_on_with_spoils_no_pace(time, capsys):
    console = Console(every=0.0)
    shown(console, time, capsys, [(10, 10), (40, 100)])
    shown(console, time, capsys, [(1, 50)])
    assert shown(console, time, capsys, [(4, 0)]) == [36]
    shown(console, time, capsys, [(30, 100)], before=90)
    assert shown(console, time, capsys, [(4, 0)]) == [36]
    assert shown(console, time, capsys, [(4, 90)], before=90) == [0], "a tenth is left"


def test_a_quiet_console_tells_nothing(time, capsys):
    assert shown(Console(quiet=True), time, capsys, [(1, 1), (30, 50)]) == [None, None]
    assert (clock(0.4), clock(61), clock(3725)) == ("0:00", "1:01", "1:02:05")


@pytest.mark.parametrize("columns", [40, 80, 100, 130])
def test_the_live_bar_is_never_longer_than_the_terminal(columns, time, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    console = Console()
    console._live = True
    with console.phase("self-play", 1024) as phase:
        time[0] += 1
        phase.update(317, games_per_s=12.5, evals_per_s=51234.0, share_of_raw=0.94)
        bar = capsys.readouterr().out.rpartition("\x1b[J")[2]
        assert len(bar) < columns and ("share of raw" in bar) == (columns == 130)
        monkeypatch.setenv("COLUMNS", "20")  # the terminal became narrower: the old bar stands on several lines
        time[0] += 1
        phase.update(318)
        above, (up, _, bar) = (len(bar) - 1) // 20, capsys.readouterr().out.partition("\x1b[J")
        assert len(bar) < 20 and up == f"\r\x1b[{above}A" and above > 0
    assert capsys.readouterr().out == "\r\x1b[J"


def test_a_terminal_of_one_column_ends_no_training(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "1")
    Console().row("1  2", "a  b", "a is b")
    assert "1  2" in capsys.readouterr().out


def test_a_table_has_its_legend_once_and_its_heading_from_time_to_time(capsys):
    console = Console()
    for i in range(loggers.HEADING_EVERY + 1):
        console.row(f"row {i}", "heading", "legend")
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["legend", "heading", "row 0"] and lines[-2:] == ["heading", f"row {loggers.HEADING_EVERY}"]
    assert lines.count("heading") == 2 and lines.count("legend") == 1
