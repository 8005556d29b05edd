"""Clocks of games with other programs: no way of thinking for the time that is offered loses on time."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.engines.clock import LAG, Clock, TimeControl, less_lag, turn_budget

SECONDS = st.floats(0.05, 5000)
"""Of a game, or of each move: nobody keeps a clock that gives less than a search always gets."""


def control_lag(budget):
    """Return the lag that was set aside for a move with this budget, or less."""
    return min(LAG, 0.4 * budget)


def left_after(clock, seconds):
    """Play a move by an independent keeper of the time: (main, period, stones, periods) or None when time is lost."""
    main, control = clock["main"], clock["control"]
    over = max(seconds - main, 0.0)
    clock["main"] = max(main - seconds, 0.0)
    if over == 0.0 and clock["main"] > 0.0:
        return True
    if control.period == 0:
        return over == 0.0 or seconds <= main
    if control.periods:
        clock["periods"] -= int(over // control.period)
        return clock["periods"] > 0
    clock["period"] -= over
    clock["stones"] -= 1
    if clock["period"] < 0:
        return False
    if clock["stones"] == 0:
        clock["period"], clock["stones"] = control.period, control.stones
    return True


@given(
    st.one_of(
        st.builds(lambda main: TimeControl(main), SECONDS),
        st.builds(lambda main, p, n: TimeControl(main, p * n, n), st.just(0.0) | SECONDS, SECONDS, st.integers(1, 25)),
        st.builds(lambda main, p, n: TimeControl(main, p, 1, n), st.just(0.0) | SECONDS, SECONDS, st.integers(1, 9)),
    ),
    st.lists(st.floats(0.0, 0.99), min_size=60, max_size=60),
)
@settings(max_examples=300, deadline=None)
def test_whoever_thinks_as_long_as_allowed_and_is_a_little_late_never_loses_on_time(control, late):
    clock = Clock(control)
    kept = {"main": control.main, "period": control.period, "stones": control.stones, "periods": control.periods,
            "control": control}  # fmt: skip
    for number, share in enumerate(late):
        budget = clock.budget(60 - number)
        assert budget > 0
        if control.period == 0 and clock.main < 0.1:
            return  # sudden death: nobody keeps that for ever
        seconds = budget + share * control_lag(budget)  # the lag that was set aside
        assert left_after(kept, seconds), (control, number)
        clock.spend(seconds)
        assert math.isclose(clock.main, kept["main"], abs_tol=1e-6)


def test_without_a_limit_a_move_may_take_for_ever():
    clock = Clock()
    assert clock.budget(10) == math.inf
    clock.spend(1e6)
    assert clock.budget(10) == math.inf == turn_budget(math.inf, math.inf, 10)


def test_main_time_is_shared_out_and_a_period_costs_nothing():
    assert Clock(TimeControl(600.0)).budget(20) == pytest.approx(30 - LAG)
    assert Clock(TimeControl(600.0, 60.0, 1, 5)).budget(20) == pytest.approx(60 - LAG)
    assert Clock(TimeControl(0.0, 60.0, 10)).budget(20) == pytest.approx(6 - LAG)
    assert Clock(TimeControl(0.0, 0.1, 1)).budget(20) == pytest.approx(less_lag(0.1)) and 0.05 < less_lag(0.1) < 0.08


def test_the_other_programs_clock_counts():
    clock = Clock(TimeControl(600.0, 30.0, 5))
    clock.set_left(50.0, 0)
    assert clock.main == 50 and not clock.overtime
    clock.set_left(12.0, 3)
    assert clock.overtime and clock.budget(10) == pytest.approx(4 - LAG)
    clock.spend(4.0)
    assert (clock.period, clock.stones) == (8.0, 2)
    periods = Clock(TimeControl(0.0, 30.0, 1, 5))
    periods.set_left(30.0, 2)
    periods.spend(31.0)
    assert periods.periods == 1 and periods.budget(9) == pytest.approx(30 - LAG)


def test_a_move_and_a_game_have_limits_in_gomocup():
    assert turn_budget(5.0, math.inf, 10) == pytest.approx(5 - LAG)
    assert turn_budget(5.0, 20.0, 10) == pytest.approx(2 - LAG)
    assert 0 < turn_budget(0.0, math.inf, 10) < 0.01 and 0 < turn_budget(1.0, -3.0, 10) < 0.01
