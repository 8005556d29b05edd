"""The clock of the page, without a browser: whose time runs, increments, machines' budgets, a game lost on time."""

import time

import pytest

import games
from players.rollout import RolloutPlayer
from plugins.page import tab_address
from plugins.page.clock import Clock, face, from_text
from plugins.page.table import Table
from plugins.page.web_players import choose
from storage.game_files import PERSON


def test_only_the_time_of_who_is_to_move_runs_and_a_move_adds_the_increment():
    clock = Clock(60, 5)
    clock.run(1, 100.0)
    assert (clock.time_of(1, 107.0), clock.time_of(-1, 107.0)) == (53.0, 60.0)
    clock.moved(1, 107.0)
    assert clock.running is None and clock.time_of(1, 500.0) == 58.0
    clock.run(-1, 500.0)
    clock.run(-1, 505.0)
    assert clock.time_of(-1, 510.0) == 50.0, "saying it twice is saying it once"
    clock.run(None, 510.0)
    assert clock.time_of(-1, 900.0) == 50.0
    clock.moved(1, 900.0)
    assert clock.time_of(1, 900.0) == 58.0, "whose time did not run gets no increment"


def test_a_side_without_time_is_found_and_a_new_clock_is_full():
    clock = Clock(60)
    clock.run(-1, 0.0)
    assert clock.fallen(59.9) is None and clock.fallen(60.0) == -1
    assert clock.time_of(-1, 70.0) == 0.0
    assert clock.fresh().time_of(-1, 70.0) == 60.0


def test_another_game_and_a_try_have_a_full_clock_and_the_way_back_finds_the_times():
    table = Table("tictactoe")
    table.load_text("b2 a1 c3")
    table.clock = from_text("1+0,0.0,49.0")
    table.resign(1, late=True)
    table.go(1)
    table.play(8, trying=True)
    assert table.on_the_clock == 1 and table.clock.text(0.0) == "1+0,60.0,60.0"
    table.back()
    assert table.clock.text(0.0) == "1+0,0.0,49.0" and table.on_the_clock is None
    for begin in (lambda: table.load_text("b2"), lambda: table.load(table.record()), table.new):
        table.clock = from_text("1+0,0.0,49.0")
        begin()
        assert table.clock.text(0.0) == "1+0,60.0,60.0"


@pytest.mark.parametrize("left, increment", [(60.0, 0), (1.0, 0), (0.2, 0), (60.0, 30), (3.0, 30)])
def test_a_machine_plans_less_than_it_has(left, increment):
    clock = Clock(left, increment)
    budget = clock.budget(1, 0.0)
    assert 0 < budget <= max(left / 3, 0.05)
    assert increment == 0 or budget > Clock(left).budget(1, 0.0)


def test_a_machine_stops_searching_when_its_budget_ends():
    player = RolloutPlayer(games.make("connect4"), sims=9_000_000)
    player.new_game(0, 0)
    found = choose(player, "9000000", player.game.start(), [], lambda: False, until=time.monotonic() + 0.05)
    assert found is not None and found[0] in range(7)
    assert 0 < player.trees(0)[0].root.visits < 9_000_000


@pytest.mark.parametrize("seconds, shown", [(600, "10:00"), (75.2, "1:15"), (10.0, "0:10"), (9.96, "9.9"), (0, "0.0")])
def test_a_time_as_the_clock_shows_it(seconds, shown):
    assert face(seconds) == shown


def test_a_clock_goes_through_the_address():
    clock = Clock(180, 2)
    clock.run(1, 0.0)
    again = from_text(clock.text(30.04))
    assert (again.seconds, again.increment) == (180.0, 2.0)
    assert again.time_of(1, 0.0) == 150.0 and again.time_of(-1, 0.0) == 180.0
    assert from_text("5+3").time_of(-1, 0.0) == 300.0
    assert from_text("1+0,99999,1").time_of(1, 0.0) == 60.0, "no more than the clock can hold"
    for text in ("", "0+0", "4+0", "5+4", "5", "5+3,1", "<b>", "5+3,x,y", "٥+3"):
        assert from_text(text) is None


def timed(spec="connect4", moves="44", **seats):
    table = Table(spec)
    table.seats = {1: seats.get("first", PERSON), -1: seats.get("second", PERSON)}
    table.clock = Clock(60, 1)
    table.load_text(moves)
    return table


def test_the_time_runs_of_who_is_to_move_in_a_game_that_is_under_way():
    table = timed(moves="")
    assert table.on_the_clock is None, "nobody has moved yet"
    table.play(3)
    assert table.on_the_clock == -1
    table.go(0)
    assert table.on_the_clock == -1, "a person who looks back loses time"
    table.paused = True
    assert table.on_the_clock is None
    waiting = timed(moves="4", second="random")
    assert waiting.on_the_clock == -1
    waiting.go(0)
    assert waiting.on_the_clock is None, "a machine that waits does not"
    assert timed(moves="4141414").on_the_clock is None
    table = timed()
    table.clock = None
    assert table.on_the_clock is None


def test_a_move_stops_the_clock_and_another_game_has_a_full_one():
    table = timed()
    now = time.monotonic()
    table.clock.run(1, now - 20)
    table.play(3)
    assert table.clock.running is None
    assert 30 < table.clock.time_of(1, now) < 41.1, "20 s are gone, and one was added"
    table.new()
    assert table.clock.time_of(1, now) == 60.0


def test_who_has_no_time_left_loses_and_an_address_says_so():
    table = timed()
    table.resign(1, late=True)
    assert table.result == -1.0 and table.status == "Yellow wins. The other side has no time left."
    values = tab_address.kept(table)
    assert values["resigned"] == "first,late" and values["clock"] == "1+1,60.0,60.0"
    again = timed()
    tab_address.give_up(again, values)
    assert again.status == table.status
    again.go(1)
    again.play(0)
    assert again.result is None and not again.late
