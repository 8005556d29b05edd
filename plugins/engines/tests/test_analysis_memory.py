"""An analysis engine that runs for days: networks and trees are kept by network and board, idle ones are dropped."""

import weakref

import pytest

import games
from plugins.engines import serving
from plugins.engines.analysis_results import Analysis
from plugins.engines.analysis_search import KEPT, Group
from plugins.engines.serving import PlayerSource

RULES = "chinese", "tromp-taylor", "aga", "new-zealand", "chinese-ogs"


class Program:
    """Keeps what was said."""

    def __init__(self):
        self.results = {}

    def say(self, values):
        if "rootInfo" in values:
            self.results[values["id"]] = values


@pytest.fixture
def server(monkeypatch):
    """Return (analysis, its program, names of the games for which a network was loaded)."""
    loaded, make = [], serving.make_player

    def made(name, game, **options):
        loaded.append(game.spec)
        return make(name, game, **options)

    monkeypatch.setattr(serving, "make_player", made)
    program = Program()
    return analysis(program), program, loaded


def analysis(program):
    return Analysis(PlayerSource("shipped", sims=8), games.make("go").longer(), program, visits=8, count=2)


def ask(server, name, size, rules="chinese", komi=7.0):
    server.ask(
        {
            "id": name,
            "moves": [],
            "rules": rules,
            "komi": komi,
            "boardXSize": size,
            "boardYSize": size,
            "includeOwnership": True,
        }
    )


def finish(server):
    while not server.idle:
        server.step(lambda: False)


def test_a_hundred_rule_sets_of_a_board_share_its_network_and_trees(server):
    server, program, loaded = server
    sets = [(rules, -10.0 + komi) for komi in range(20) for rules in RULES]
    compared = 3, 77
    for number, (rules, komi) in enumerate(sets):
        if number in compared:
            server._pool.clear_cache()  # a leaf that is known does not wait for the network: another search
        ask(server, str(number), 9, rules, komi)
        finish(server)
        if number == 9:
            known, kept = len(loaded), len(server._pool._groups)
    assert len(program.results) == 100 and len(server._pool._groups) == kept <= KEPT
    assert len(loaded) == known, "after ten rule sets no network is loaded any more"
    assert all(len(group._territories) <= KEPT for group in server._pool._groups.values())
    assert len({id(t._head) for group in server._pool._groups.values() for t in group._territories.values()}) <= kept
    for number in compared:  # alone, from the beginning
        alone = Program()
        fresh = analysis(alone)
        ask(fresh, "a", 9, *sets[number])
        finish(fresh)
        assert alone.results["a"] | {"id": str(number)} == program.results[str(number)]


def test_trees_of_boards_that_nobody_asks_for_any_more_are_dropped_but_none_that_has_something_to_search(server):
    server, program, loaded = server
    groups = weakref.WeakSet()
    for size in range(6, 14):
        ask(server, str(size), size)
        groups.update(server._pool._groups.values())
        assert all(task.group in server._pool._groups.values() for task in server._pool.tasks())
    assert len(server._pool._groups) >= 8, "all have something to search"
    finish(server)
    assert len(program.results) == 8
    ask(server, "again", 13)
    finish(server)
    assert len(server._pool._groups) <= KEPT and "again" in program.results
    assert sum(isinstance(group, Group) for group in groups) <= KEPT, "nothing else keeps them"
