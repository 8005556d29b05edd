"""Rules that give White points for handicap stones, and a komi that the network did not learn: in every protocol."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from engine_talk import told_analysis, told_gtp

import games
from plugins.engines.analysis_query import read_query
from plugins.engines.gtp_commands import run
from plugins.engines.gtp_session import Session
from plugins.engines.serving import PlayerSource

QUERY = {"id": "a", "boardXSize": 9, "boardYSize": 9, "rules": "chinese", "moves": [], "komi": 7, "maxVisits": 2}
STONES = [["B", "C3"], ["B", "G7"], ["B", "C7"]]
OBJECT = {"ko": "SIMPLE", "suicide": False}


def given(**changes):
    """Return White's points in the positions of a query, besides the komi."""
    read = read_query({**QUERY, **changes}, games.make("go"), 8)
    return [read.game.white_points(turn.state) - 7 for turn in read.turns]


@pytest.mark.parametrize(
    "rules, points",
    [
        ("chinese", 3),
        ("chinese-ogs", 3),
        ("chinese-kgs", 3),
        ("aga", 2),
        ("bga", 2),
        ("aga-button", 2),
        ("japanese", 0),
        ("korean", 0),
        ("tromp-taylor", 0),
        ("new-zealand", 0),
        ("stone-scoring", 0),
        ({**OBJECT, "whiteHandicapBonus": "N"}, 3),
        ({**OBJECT, "whiteHandicapBonus": "N-1"}, 2),
        ({**OBJECT, "whiteHandicapBonus": "0"}, 0),
        (OBJECT, 0),
    ],
)
def test_analysis_gives_white_the_points_of_the_rules_for_handicap_stones(rules, points):
    assert given(rules=rules, initialStones=STONES) == [points]


def test_a_handicap_is_what_black_has_before_white_has_a_stone():
    """As KataGo counts: stones set up and moves, none if White has stones at first, and one alone is a move."""
    moves = [["B", "C3"], ["B", "G7"], ["W", "E5"], ["B", "C7"]]
    assert given(moves=moves, analyzeTurns=[0, 1, 2, 3, 4]) == [0, 0, 2, 2, 2]
    assert given(moves=[["B", "C3"], ["W", "pass"], ["B", "G7"], ["W", "E5"]], analyzeTurns=[4]) == [2]
    assert given(initialStones=STONES, moves=[["B", "A1"]]) == [4]
    assert given(initialStones=[*STONES, ["W", "E5"]]) == given(initialStones=STONES[:1]) == [0]


def test_an_unknown_bonus_is_refused():
    [found] = told_analysis({**QUERY, "rules": {"whiteHandicapBonus": "N+1"}})
    assert (found["field"], found["id"]) == ("rules", "a") and "whiteHandicapBonus" in found["error"]


def test_the_points_of_the_handicap_are_in_scores_and_turn_a_winner():
    """Black owns all; a komi of 80 and two stones' points are more."""
    board = [["B", f"{column}{row}"] for column in "ABCDEFGHJ" for row in range(1, 10) if (column, row) != ("E", 5)]
    query = {**QUERY, "initialStones": board, "komi": 0.5, "moves": [["W", "pass"], ["B", "pass"]], "analyzeTurns": [1]}
    scores = {}
    for rules in ("japanese", "chinese", "aga"):
        found = told_analysis({**query, "rules": rules}, player="shipped")[-1]
        assert found["moveInfos"], found
        best = {info["move"]: info["scoreLead"] for info in found["moveInfos"]}
        scores[rules] = best["pass"]
    assert scores == {"japanese": 80.5, "chinese": 0.5, "aga": 1.5}


def test_a_komi_far_from_the_learned_one_is_warned_of_in_the_protocol():
    """The network that ships for 9x9 learned a komi of 7, and plays every other one."""
    found = told_analysis({**QUERY, "komi": 60}, {**QUERY, "komi": 60}, {**QUERY, "komi": 7})
    warnings = [(each["field"], each["warning"]) for each in found if "warning" in each]
    text = "no network was trained for go(komi=60,size=9): that of go(komi=7,size=9) evaluates"
    assert warnings == [("komi", text)]


def test_handicap_points_are_warned_of_once():
    query = {**QUERY, "initialStones": STONES}
    found = told_analysis(query, query)
    assert [each["field"] for each in found if "warning" in each] == ["rules"]
    assert "White has 3 more for the handicap" in found[0]["warning"] and "komi 7" in found[0]["warning"]


# ---- GTP


def test_gtp_counts_the_points_of_the_rules_that_were_set():
    for rules, result in (("chinese", "B+78"), ("aga", "B+79"), ("japanese", "B+81"), ("tromp-taylor", "B+81")):
        lines = ["boardsize 9", "komi 0", f"kata-set-rules {rules}", "set_free_handicap c3 g7 c7", "final_score"]
        assert told_gtp(*lines)[-1] == f"= {result}", rules
        lines[2], lines[3] = lines[3], lines[2]
        assert told_gtp(*lines)[-1] == f"= {result}", "rules may follow the stones"
    for placed in (["fixed_handicap 3"], ["place_free_handicap 3"], ["play b c3", "play b g7", "play b c7"]):
        assert told_gtp("boardsize 9", "komi 0", "kata-set-rules chinese", *placed, "final_score")[-1] == "= B+78"
    played = ["play b c3", "play b g7", "undo", "final_score"]
    assert told_gtp("boardsize 9", "komi 0", "kata-set-rules chinese", *played)[-1] == "= B+81"


def test_the_rules_are_described_and_set_as_katago_does():
    usual = {
        "hasButton": False,
        "ko": "SIMPLE",
        "scoring": "AREA",
        "suicide": False,
        "tax": "NONE",
        "whiteHandicapBonus": "0",
    }
    changed = {**usual, "ko": "POSITIONAL", "suicide": True, "whiteHandicapBonus": "N-1"}
    found = told_gtp(
        "kata-get-rules",
        f"kata-set-rules {json.dumps(changed)}",
        "kata-get-rules",
        "kata-set-rules chinese",
        "kata-get-rules",
        "kata-set-rules nonsense",
        "kata-set-rules {",
        "kata-get-rules",
        "clear_board",
        "boardsize 7",
        "kata-get-rules",
    )
    rules = [json.loads(found[i].removeprefix("= ")) for i in (0, 2, 4, 7, 10)]
    chinese = {**usual, "whiteHandicapBonus": "N"}
    assert rules == [usual, changed, chinese, chinese, chinese] and found[1] == found[3] == "="
    assert found[5].startswith("? Could not parse rules, expected one of chinese")
    assert found[6] == "? Could not parse rules, expected an object in JSON"
    assert told_gtp("kata-set-rules chinese", game="littlego") == ["? the rules of littlego are fixed"]


def test_rules_that_forbid_a_move_so_far_are_refused_and_nothing_changes():
    """White's stone at a2 takes its own chain's last liberty."""
    moves = ["play b a3", "play w a1", "play b b2", "play b b1", "play w a2"]
    found = told_gtp("kata-set-rules tromp-taylor", *moves, "kata-set-rules chinese", "kata-get-rules", "showboard")
    assert found[5] == "=" and found[6].startswith("? the moves so far do not allow these rules")
    assert json.loads(found[7].removeprefix("= "))["suicide"] and found[8].count("O -") == 0


def test_a_handicap_game_goes_through_a_file_with_its_points(tmp_path):
    moves = ["play b c3", "play b g7"]
    for rules, stones, result in (
        ("chinese", ["fixed_handicap 2"], "B+79"),
        ("aga", moves, "B+80"),
        ("chinese", [*moves, "play w pass"], "B+79"),
    ):
        file = tmp_path / f"{rules}{len(stones)}.sgf"
        found = told_gtp(
            "boardsize 9",
            "komi 0",
            f"kata-set-rules {rules}",
            *stones,
            f"printsgf {file}",
            "clear_board",
            "kata-set-rules japanese",
            f"loadsgf {file}",
            "final_score",
            "kata-get-rules",
        )
        assert found[-2] == f"= {result}" and "N" in json.loads(found[-1].removeprefix("= "))["whiteHandicapBonus"]
        assert b"KM[0]" in file.read_bytes() and b"HA[2]" in file.read_bytes()


def test_a_file_with_stones_of_both_colours_keeps_the_points_of_its_handicap(tmp_path):
    """Where a game has a move out of turn, what was before is set up, White's stones too."""
    file = tmp_path / "turned.sgf"
    begun = ("boardsize 5", "komi 0.5", "kata-set-rules chinese", "set_free_handicap A1 E5", "play w c3", "play w d3")
    found = told_gtp(
        *begun,
        "play b b2",
        "final_score",
        f"printsgf {file}",
        f"loadsgf {file}",
        "final_score",
        "komi 1.5",
        "final_score",
        "kata-set-rules tromp-taylor",
        "final_score",
    )
    assert [found[i] for i in (7, 10, 12, 14)] == ["= W+1.5", "= W+1.5", "= W+2.5", "= W+2.5"]
    assert b"HA[2]" in file.read_bytes()


def two_moves_of_black():
    """Return a session of rules that give White a point for each stone of a handicap, in which Black moved twice."""
    session = Session(PlayerSource("rollout:50", sims=50), games.make("go"), SimpleNamespace(interrupted=lambda: False))
    for name, words in (("kata-set-rules", "chinese"), ("komi", "0.5"), ("genmove", "b"), ("genmove", "b")):
        run(session, name, [words], 0.0)
    return session


def test_a_search_counts_the_points_also_when_they_came_after_it_began():
    """After Black's second stone the tree, in which White had fewer points, is not used any more."""
    begun = (two_moves_of_black() for _ in range(20))
    session = next(each for each in begun if 25 not in each.position.moves)  # it passes now and then
    position = session.position
    assert session.game.white_points(position.state) == 2.5
    session.choose(position.state, math.inf)
    assert session.game.white_points(session.thinker.tree.root.state) == 2.5


def test_the_network_is_shown_without_a_search():
    found = told_gtp(
        "boardsize 9",
        "komi 7",
        "play b e5",
        "play w c3",
        "kata-raw-nn 0",
        "kata-raw-nn all",
        "kata-raw-nn 8",
        player="shipped",
    )
    words = found[4].removeprefix("= ").split()
    assert words[:2] == ["symmetry", "0"] and words[6:8] == ["noResult", "0"]
    win, loss = float(words[words.index("whiteWin") + 1]), float(words[words.index("whiteLoss") + 1])
    assert win + loss == pytest.approx(1) and 0 < win < 1
    at = words.index("policy") + 1
    policy, passed = words[at : at + 81], float(words[words.index("policyPass") + 1])
    assert [n for n, word in enumerate(policy) if word == "NAN"] == [40, 56], "e5 and c3, from the top left"
    assert sum(float(word) for word in policy if word != "NAN") + passed == pytest.approx(1, abs=1e-3)
    owned = words[words.index("whiteOwnership") + 1 :]
    assert len(owned) == 81 and float(owned[40]) < 0 < float(owned[56])
    assert found[5].count("symmetry") == 8 and found[6].startswith("? syntax error")
    assert told_gtp("kata-raw-nn 0", player="random") == ["? random has no network"]


def test_the_network_sees_the_board_turned_and_answers_for_it_as_it_is():
    """A position that looks the same upside down has the same policy and owners for both, mirrored."""
    found = told_gtp("boardsize 9", "play b e5", "kata-raw-nn 0", "kata-raw-nn 1", player="shipped")
    for head, known in (("policy", 80), ("whiteOwnership", 81)):
        grids = []
        for text in found[2:]:
            words = text.split()
            at = words.index(head) + 1
            grids.append(np.array(words[at : at + 81], float).reshape(9, 9))
        assert np.allclose(grids[0], grids[1][::-1], atol=1e-3, equal_nan=True)
        assert np.isfinite(grids[0]).sum() == known and not np.allclose(grids[0], grids[1], atol=1e-3, equal_nan=True)
