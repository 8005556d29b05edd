"""What a game tells of moves that win or lose at once is what trying finds; gomoku's random games are its rules'."""

import numpy as np
import pytest

import games
from game import NO_WIN, NOT_PLAYED, NOT_TOLD, PLAYER, not_played
from support.game_samples import crowded_line, means
from support.perft import first_win

SPECS = [
    "connect4", "connect4(rows=4,columns=5,n=3)", "connect4(rows=9,columns=4,n=5)", "connect4(rows=1,columns=9,n=2)",
    "connect4(rows=2,columns=2,n=2)", "connect4(rows=7,columns=8)", "connect4(rows=8,columns=8,n=5)",
    "connect4(rows=1,columns=32,n=3)", "connect4(rows=31,columns=2,n=3)", "connect4(rows=40,columns=3,n=6)",
    "gomoku", "gomoku(size=15,n=4)", "gomoku(size=19,n=3,rule=exact)",
    "gomoku(size=6,rule=exact)", "gomoku(size=7,n=7)", "gomoku(size=12,n=11)", "gomoku(size=5,n=2)",
    "gomoku(size=3,n=3)", "gomoku(size=7,n=4,rule=exact)", "gomoku(size=6,rule=renju)", "gomoku(size=9,rule=renju)",
    "hex(size=3)", "hex(size=6,swap=yes)", "hex",
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_the_move_told_to_win_is_the_first_found_by_trying(spec):
    game, rng, found = games.make(spec), np.random.default_rng(0), []
    for i in range(4 if game.action_size > 80 else 20):
        for state in crowded_line(game, rng, wide=game.action_size // (1 + i % 4))[-30:]:
            told = game.rules.winning(state.row)
            assert told == first_win(state), f"\n{state}"
            found.append(told)
    assert (NO_WIN in found or "n=2" in spec) and (max(found) >= 0 or "n=7" in spec or "n=11" in spec)


@pytest.mark.parametrize("spec", SPECS)
def test_the_moves_told_to_be_safe_are_those_after_which_the_other_has_no_win(spec):
    game, rng, found = games.make(spec), np.random.default_rng(1), set()
    out = np.zeros(game.action_size, np.int32)
    for i in range(2 if game.action_size > 80 else 20):
        line = crowded_line(game, rng, wide=game.action_size // (1 + i % 4))
        for state in line[:: 1 + len(line) // 20]:
            if first_win(state) != NO_WIN:
                continue
            after = {action: state.takeAction(action)[0] for action in state.allowedActions}
            wanted = [a for a, s in after.items() if s.isEndGame or first_win(s) == NO_WIN]
            count = game.rules.safe(state.row, out)
            told = state.allowedActions if count == NOT_TOLD else out[:count].tolist()
            assert told == wanted, f"\n{state}"
            found.add(min(len(told), 2) if len(told) < len(after) else 3)
    assert 3 in found or "n=2" in spec
    assert found & {0, 1, 2} or game.winning_line > 6, "some move loses at once somewhere"


@pytest.mark.parametrize("d", [(0, 1), (1, 0), (1, 1), (1, -1)])
@pytest.mark.parametrize("n, size", [(5, 9), (5, 15), (9, 19), (19, 19), (6, 8)])
def test_every_gap_of_a_line_is_found_also_at_the_edge(n, size, d):
    """Black's line of n with one stone missing, in each direction, from each corner that it fits into."""
    game = games.make(f"gomoku(size={size},n={n})")
    for corner in ((0, 0), (size - 1, size - 1), (0, size - 1), (size - 1, 0), (size - n, size - n)):
        points = [(corner[0] + s * k * d[0], corner[1] + s * k * d[1]) for s in (1, -1) for k in range(n)]
        for line in (points[:n], points[n:]):
            if not all(0 <= r < size and 0 <= c < size for r, c in line):
                continue
            for gap in {0, 1, n // 2, n - 2, n - 1}:
                state, free = game.start(), [a for a in range(size * size) if divmod(a, size) not in line]
                for k, (r, c) in enumerate(line):
                    if k != gap:
                        row = state.row.copy()
                        row[PLAYER] = 1
                        state = game.state_of(row).takeAction(r * size + c)[0]
                row = state.row.copy()
                row[PLAYER] = 1
                state = game.state_of(row)
                assert state.allowedActions == sorted(free + [line[gap][0] * size + line[gap][1]])
                told = game.rules.winning(state.row)
                assert 0 <= told <= line[gap][0] * size + line[gap][1], f"\n{state}"
                assert state.takeAction(told)[2], "a line without a stone at its end has another end"
                row[PLAYER] = -1
                assert game.rules.winning(row) == NO_WIN, "it is Black's line"


def test_games_that_tell_nothing_say_so():
    for spec in ("go", "tictactoe"):
        game = games.make(spec)
        assert game.rules.winning(game.start_row) == NOT_TOLD
        assert game.rules.safe(game.start_row, np.zeros(game.action_size, np.int32)) == NOT_TOLD


@pytest.mark.parametrize("spec", ["gomoku", "gomoku(size=3,n=3)", "gomoku(size=5,n=4)", "gomoku(size=6,rule=exact)"])
def test_random_games_of_gomoku_have_the_results_of_games_drawn_from_lists_of_legal_moves(spec):
    game, count = games.make(spec), 20000
    own = means(game.start(), count, seed=1)
    rules = means(game.start(), count, seed=2, rules=game.rules._replace(playout=not_played))
    assert own != rules, "two ways"
    assert abs(own - rules) < 4.5 * np.sqrt(2 / count)


def test_renju_is_left_to_the_rules():
    game = games.make("gomoku(rule=renju)")
    assert game.rules.playout(game.start_row.copy(), np.uint64(1)) == NOT_PLAYED
