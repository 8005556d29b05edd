"""KataGo's analysis protocol: queries, results, actions, errors and warnings in its form."""

import json
import time

import numpy as np
import pytest
from engine_talk import Live, analysis_server, told_analysis

import games
from config import UserError
from players.by_name import make_player
from plugins.engines.analysis_query import read_query

QUERY = {"id": "a", "moves": [["B", "C3"], ["W", "C4"]], "rules": "chinese", "komi": 2.5, "boardXSize": 5,
         "boardYSize": 5, "maxVisits": 20}  # fmt: skip


def one(**changes):
    """Return the only result of a query."""
    [found] = told_analysis({key: value for key, value in {**QUERY, **changes}.items() if value is not None})
    return found


def test_a_result_has_the_fields_of_the_protocol():
    found = one(includePolicy=True, includeOwnership=True, includeMovesOwnership=True, includePVVisits=True)
    assert set(found) == {"id", "turnNumber", "isDuringSearch", "moveInfos", "rootInfo", "policy", "ownership"}
    assert (found["id"], found["turnNumber"], found["isDuringSearch"]) == ("a", 2, False)
    root, moves = found["rootInfo"], found["moveInfos"]
    assert root["visits"] >= 20 and root["currentPlayer"] == "B" and 0 <= root["winrate"] <= 1
    assert [info["order"] for info in moves] == list(range(len(moves)))
    assert sum(info["visits"] for info in moves) <= root["visits"]
    for info in moves:
        assert info["pv"][0] == info["move"] and len(info["pvVisits"]) == len(info["pv"])
        assert len(info["ownership"]) == 25 and -27.5 <= info["scoreLead"] <= 22.5
    assert len(found["ownership"]) == 25 and np.abs(found["ownership"]).max() <= 1
    policy = np.array(found["policy"])
    assert len(policy) == 26 and policy[12] == policy[7] == -1
    assert policy[policy >= 0].sum() == pytest.approx(1, abs=1e-4)
    assert sum(found["ownership"]) - 2.5 == pytest.approx(root["scoreLead"], abs=1e-3)


def test_every_turn_that_is_asked_for_has_a_result_and_they_share_batches():
    found = told_analysis({**QUERY, "analyzeTurns": [0, 1, 2]}, {**QUERY, "id": "b", "komi": 6.5})
    results = [each for each in found if "rootInfo" in each]
    assert sorted((each["id"], each["turnNumber"]) for each in results) == [("a", 0), ("a", 1), ("a", 2), ("b", 2)]
    results.sort(key=lambda each: (each["id"], each["turnNumber"]))
    assert [each["rootInfo"]["currentPlayer"] for each in results] == ["B", "W", "B", "B"]
    warnings = [each for each in found if "warning" in each]
    assert len(warnings) == 1 and warnings[0]["field"] == "komi" and warnings[0]["id"] == "b"


def test_the_network_that_ships_for_9x9_knows_territory():
    found = one(boardXSize=9, boardYSize=9, komi=7, includeOwnership=True)
    assert len(found["ownership"]) == 81 and np.abs(found["ownership"]).max() <= 1
    assert sum(found["ownership"]) - 7 == pytest.approx(found["rootInfo"]["scoreLead"], abs=1e-3)


def test_values_are_those_of_the_side_that_is_asked_for():
    sides = [one(overrideSettings={"reportAnalysisWinratesAs": side}, analyzeTurns=[1], includeOwnership=True)
             for side in ("BLACK", "WHITE", "SIDETOMOVE")]  # fmt: skip
    black, white, to_move = (each["rootInfo"] for each in sides)
    assert white == to_move and black["winrate"] == pytest.approx(1 - white["winrate"])
    assert black["scoreLead"] == pytest.approx(-white["scoreLead"])
    assert sides[0]["ownership"] == [-value for value in sides[1]["ownership"]]


def test_a_komi_that_is_not_given_is_that_of_the_network_for_the_board():
    query = {key: value for key, value in QUERY.items() if key != "komi"}
    small, large = ({**query, "boardXSize": size, "boardYSize": size} for size in (5, 9))
    found = told_analysis(small, {**large, "id": "b"})
    warned = {line["id"]: line["warning"] for line in found if line.get("field") == "komi"}
    assert warned == {"a": "Not given: 2.5 is used", "b": "Not given: 7 is used"}
    assert len([line for line in found if "moveInfos" in line]) == 2
    assert [read_query(each, games.make("go"), 8).game.komi for each in (small, large)] == [7.5, 7.5]
    assert read_query({**query, "boardXSize": 2, "boardYSize": 2, "moves": []}, games.make("go"), 8).game.komi == 4
    assert not [line for line in told_analysis({**large, "komi": 7}) if "warning" in line]


def test_a_captured_point_and_a_handicap_are_read():
    query = {**QUERY, "moves": [["W", "(0,4)"]], "initialStones": [["B", "A2"], ["B", "C3"]], "analyzeTurns": [0, 1]}
    read = read_query(query, games.make("go"), 8)
    assert [turn.state.playerTurn for turn in read.turns] == [-1, 1]
    owners = read.turns[1].state.planes()[:, :, 1]
    assert owners[4, 0] == 1 and read.turns[1].state.planes()[:, :, 0].sum() == 2


def test_avoided_moves_are_not_searched():
    best = one(moves=[])["moveInfos"][0]["move"]
    avoid = [{"player": "B", "moves": [best], "untilDepth": 1}, {"player": "W", "moves": ["A1"], "untilDepth": 1}]
    assert best not in {info["move"] for info in one(moves=[], avoidMoves=avoid)["moveInfos"]}
    allowed = one(moves=[], allowMoves=[{"player": "B", "moves": ["A1", "B1"], "untilDepth": 1}])
    assert {info["move"] for info in allowed["moveInfos"]} == {"A1", "B1"}
    assert allowed["rootInfo"]["visits"] >= 20


@pytest.mark.parametrize(
    "changes, field",
    [
        ({"moves": None}, "moves"),
        ({"moves": [["B"]]}, "moves"),
        ({"moves": [["B", "C3"], ["W", "C3"]]}, "moves"),
        ({"moves": [["X", "C3"]]}, "moves"),
        ({"moves": [["B", "I3"]]}, "moves"),
        ({"moves": [["B", "pass"]] * 2000}, "moves"),
        ({"initialStones": [["B", "C3"], ["W", "C3"]]}, "initialStones"),
        ({"initialStones": [["B", "A1"], ["W", "A2"], ["W", "B1"]]}, "initialStones"),
        ({"initialPlayer": "x", "moves": []}, "initialPlayer"),
        ({"rules": "no such"}, "rules"),
        ({"rules": None}, "rules"),
        ({"rules": {"ko": "x"}}, "rules"),
        ({"rules": {"tax": "x"}}, "rules"),
        ({"rules": {"suicide": "no"}}, "rules"),
        ({"initialPlayer": 5}, "initialPlayer"),
        ({"komi": "7"}, "komi"),
        ({"komi": 2.3}, "komi"),
        ({"komi": 1e9}, "komi"),
        ({"boardXSize": 30}, "boardXSize"),
        ({"boardYSize": 4}, "boardYSize"),
        ({"boardXSize": True}, "boardXSize"),
        ({"analyzeTurns": [3]}, "analyzeTurns"),
        ({"analyzeTurns": []}, "analyzeTurns"),
        ({"analyzeTurns": "all"}, "analyzeTurns"),
        ({"maxVisits": 0}, "maxVisits"),
        ({"maxVisits": 1.5}, "maxVisits"),
        ({"includePolicy": 1}, "includePolicy"),
        ({"priorities": [1, 2]}, "priorities"),
        ({"reportDuringSearchEvery": 0}, "reportDuringSearchEvery"),
        ({"overrideSettings": []}, "overrideSettings"),
        ({"overrideSettings": {"reportAnalysisWinratesAs": "RED"}}, "overrideSettings"),
        ({"avoidMoves": [{"player": "B"}]}, "avoidMoves"),
        ({"allowMoves": [{"player": "B", "moves": [], "untilDepth": 1}]}, "avoidMoves"),
    ],
)
def test_a_field_that_cannot_be_used_is_named(changes, field):
    found = one(**changes)
    assert set(found) == {"error", "field", "id"} and (found["field"], found["id"]) == (field, "a"), found


def test_an_illegal_move_is_named_as_katrain_looks_for_it():
    assert one(moves=[["B", "C3"], ["W", "C3"]])["error"] == "Illegal move 1: C3"


@pytest.mark.parametrize("line", ["junk", "[]", "{}", '{"id": 3}', '{"id": "a", "komi": NaN}', "[" * 5000, "\u00e4"])
def test_a_line_that_is_no_query_is_a_general_error(line):
    [found] = told_analysis(line)
    assert set(found) == {"error"}


def test_rules_and_settings_that_are_not_kept_are_warned_of():
    changed = {"rules": "japanese", "overrideSettings": {"wideRootNoise": 0.04, "maxTime": 5}, "foo": 1}
    found = told_analysis({**QUERY, **changed})
    assert [each["field"] for each in found[:-1]] == ["foo", "rules", "overrideSettings"]
    assert "rootInfo" in found[-1]


def test_a_first_batch_that_takes_longer_than_the_time_has_a_result_all_the_same(monkeypatch):
    network = type(make_player("shipped", games.make("go"), sims=1).predictor)
    answer = network.__call__

    def late(self, planes):
        time.sleep(0.2)
        return answer(self, planes)

    monkeypatch.setattr(network, "__call__", late)
    found = one(overrideSettings={"maxTime": 0.01}, maxVisits=1000)
    assert 0 < found["rootInfo"]["visits"] < 1000


def test_actions_are_echoed():
    found = told_analysis({"id": "v", "action": "query_version"}, {"id": "m", "action": "query_models"},
                          {"id": "c", "action": "clear_cache"}, {"id": "x", "action": "dance"},
                          {"id": "t", "action": "terminate"})  # fmt: skip
    assert set(found[0]) == {"id", "action", "version", "git_hash"}
    assert found[1]["models"][0]["name"].startswith("shipped")
    assert found[2] == {"id": "c", "action": "clear_cache"} and found[3]["field"] == "action" and "error" in found[4]


def test_long_searches_report_on_the_way_and_are_terminated():
    with Live(analysis_server) as talk:
        talk.send(json.dumps({**QUERY, "maxVisits": 10**8, "reportDuringSearchEvery": 0.05}))
        first, second = (json.loads(talk.line()) for _ in range(2))
        assert first["isDuringSearch"] and second["rootInfo"]["visits"] > first["rootInfo"]["visits"] > 0
        talk.send(json.dumps({**QUERY, "id": "quick", "maxVisits": 10}))
        while (found := json.loads(talk.line()))["id"] != "quick":
            assert found["isDuringSearch"]
        assert not found["isDuringSearch"]
        for name in ("waits1", "waits2"):
            talk.send(json.dumps({**QUERY, "id": name, "maxVisits": 10**8, "analyzeTurns": [0, 1]}))
        talk.send(json.dumps({"id": "t", "action": "terminate", "terminateId": "a"}))
        talk.send(json.dumps({"id": "u", "action": "terminate", "terminateId": "waits2", "turnNumbers": [1]}))
        talk.send(json.dumps({"id": "all", "action": "terminate_all"}))
        ends, echoed = [], []
        while len(ends) < 5 or len(echoed) < 3:
            found = json.loads(talk.line())
            if "action" in found:
                echoed.append(found["id"])
            elif not found["isDuringSearch"]:
                ends.append((found["id"], found["turnNumber"]))
                assert found.get("noResults") or found["rootInfo"]["visits"] > 0
        assert sorted(ends) == [("a", 2), ("waits1", 0), ("waits1", 1), ("waits2", 0), ("waits2", 1)]
        assert echoed == ["t", "u", "all"]


def test_queries_of_higher_priority_come_first():
    queries = [{**QUERY, "id": str(n), "maxVisits": 60, "priority": n // 4} for n in range(12)]
    order = [each["id"] for each in told_analysis(*queries, count=2)]
    assert set(order) == {str(n) for n in range(12)} and order.index("11") < order.index("0")


def test_littlego_is_analysed_by_its_own_rules():
    found = told_analysis({**QUERY, "rules": "littlego"}, {**QUERY, "id": "b", "komi": 6.5}, game="littlego")
    assert {each["id"]: "rootInfo" in each for each in found} == {"a": True, "b": False}


@pytest.mark.parametrize("game, player", [("gomoku", "shipped"), ("go", "rollout:10"), ("go", "no such")])
def test_only_networks_of_go_analyse(game, player):
    with pytest.raises(UserError):
        told_analysis(QUERY, game=game, player=player)


def test_white_moves_first_after_a_handicap_where_nothing_says_it():
    stones = [["B", "C4"], ["B", "C2"]]
    first = {**QUERY, "initialStones": stones, "moves": []}
    assert one_of(first)["rootInfo"]["currentPlayer"] == "W"
    assert one_of({**first, "initialPlayer": "b"})["rootInfo"]["currentPlayer"] == "B"
    for others in (stones[:1], [*stones, ["W", "D3"]]):
        assert one_of({**first, "initialStones": others})["rootInfo"]["currentPlayer"] == "B"


def test_the_player_stated_for_the_beginning_counts_although_moves_follow():
    """KataGo's turn 0 is the stated player's; the moves have their own."""
    query = {**QUERY, "initialPlayer": "W", "analyzeTurns": [0, 1, 2]}
    found = [each["rootInfo"]["currentPlayer"] for each in sorted(told_analysis(query), key=lambda e: e["turnNumber"])]
    assert found == ["W", "W", "B"]


@pytest.mark.parametrize(
    "rules, parameters, warned",
    [
        ({}, {"ko": "superko", "suicide": "yes"}, []),
        ({"ko": "simple", "suicide": False, "friendlyPassOk": True}, {"ko": "simple", "suicide": "no"}, []),
        ({"ko": "SITUATIONAL", "score": "TERRITORY"}, {"ko": "superko", "suicide": "yes"}, ["by area"]),
        ({"tax": "ALL"}, {"ko": "superko", "suicide": "yes"}, ["without a tax"]),
        ({"hasButton": True, "handicap": 2}, {"ko": "superko", "suicide": "yes"}, ["handicap", "without a button"]),
    ],
)
def test_rules_as_an_object_are_completed_as_katago_does(rules, parameters, warned):
    """What a query leaves out is as in Tromp-Taylor's rules; what is not played is warned of."""
    read = read_query({**QUERY, "rules": rules}, games.make("go"), 8)
    usual = {"ko": "simple", "suicide": "no"}
    assert {key: read.game.parameters.get(key, usual[key]) for key in usual} == parameters
    assert len(read.warnings) == len(warned)
    assert all(words in text for words, (_, text) in zip(warned, read.warnings, strict=True))


def one_of(query):
    (found,) = [each for each in told_analysis(query) if "rootInfo" in each]
    return found


def test_a_field_that_changes_nothing_here_is_named():
    found = told_analysis({**QUERY, "whiteHandicapBonus": "N"})
    assert [each["field"] for each in found if "warning" in each] == ["whiteHandicapBonus"]
