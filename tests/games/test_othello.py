"""Othello: known counts, a known game, two other implementations, and the rules again in plain Python."""

import numpy as np
import pytest
from numba import njit

import games
from config import UserError
from evaluation.game_contract import check
from game import OVER, PLAYER
from support.board_drawings import drawn, play
from support.perft import sequences

WHOLE_GAME = (
    "F5D6C3D3C4F4F6F3E6E7D7C5B6D8C6C7D2B5A5A6A7G5E3B4C8G6G4C2E8D1F7E2G3H4F1E1F2G1B1F8"
    "G8B3H3B2H5B7A3A4A1A2C1H2H1G2B8A8G7H8H7H6"
)


def othello(size=8):
    return games.make(f"othello(size={size})")


class Plain:
    """Othello in plain Python: a list of lists, 1 for who began."""

    def __init__(self, size):
        self.size, self.player = size, 1
        self.cells = [[0] * size for _ in range(size)]
        low, high = size // 2 - 1, size // 2
        self.cells[low][low] = self.cells[high][high] = -1
        self.cells[low][high] = self.cells[high][low] = 1

    def turned(self, player, r, c):
        """Return the discs that a disc on (r, c) would turn over."""
        found = []
        for dr, dc in [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]:
            line, rr, cc = [], r + dr, c + dc
            while rr in range(self.size) and cc in range(self.size) and self.cells[rr][cc] == -player:
                line.append((rr, cc))
                rr, cc = rr + dr, cc + dc
            if rr in range(self.size) and cc in range(self.size) and self.cells[rr][cc] == player:
                found += line
        return found

    def moves(self, player):
        points = [(r, c) for r in range(self.size) for c in range(self.size)]
        return [r * self.size + c for r, c in points if not self.cells[r][c] and self.turned(player, r, c)]

    def legal(self):
        """Return the moves, or the pass if the other one can move; nothing when the game is over."""
        return self.moves(self.player) or ([self.size**2] if self.moves(-self.player) else [])

    def play(self, action):
        if action < self.size**2:
            r, c = divmod(action, self.size)
            for rr, cc in [(r, c), *self.turned(self.player, r, c)]:
                self.cells[rr][cc] = self.player
        self.player = -self.player

    def discs(self, player):
        return sum(row.count(player) for row in self.cells)


# ---- counts


def test_othello_has_the_known_number_of_move_sequences():
    known = [4, 12, 56, 244, 1396, 8200, 55092, 390216]
    assert [sequences(othello(), depth)[0] for depth in range(1, 9)] == known


def test_six_by_six_has_the_known_number_of_move_sequences():
    known = [4, 12, 56, 244, 1364, 7604, 47740, 308716]
    assert [sequences(othello(6), depth)[0] for depth in range(1, 9)] == known


def test_four_by_four_is_won_by_the_second_player_with_eleven_discs_to_three():
    game = othello(4)

    def best(state, floor, ceiling):
        """Return the discs (mine, the other's) when both play for the largest lead (alpha-beta)."""
        if state.isEndGame:
            return state.score
        found = (-1, 99)
        for action in state.allowedActions:
            end = best(state.takeAction(action)[0], -ceiling, -floor)[::-1]
            found = max(found, end, key=lambda discs: discs[0] - discs[1])
            floor = max(floor, found[0] - found[1])
            if floor >= ceiling:
                break
        return found

    first = game.start().takeAction(game.parse_move("b1"))[0]  # the other three are this one turned
    assert best(first, -99, 99) == (11.0, 3.0)


# ---- other implementations


def test_a_known_game_without_a_pass_ends_in_a_draw():
    state = play(othello(), WHOLE_GAME)
    assert (state.isEndGame, state.value, state.score, state.row[1]) == (True, 0.0, (32.0, 32.0), 60)


@njit(cache=True)
def _random_games(rules, start, action_size, seed, rows, legal, actions):
    """Fill rows [games, plies, row], legal [games, plies, actions] and actions [games, plies]; then -1."""
    np.random.seed(seed)
    found, value = np.zeros(action_size, np.int32), np.zeros(1, np.float32)
    for g in range(rows.shape[0]):
        rows[g, 0] = start
        ply = 0
        while not rules.outcome(rows[g, ply], value):
            count = rules.legal(rows[g, ply], found)
            for i in range(count):
                legal[g, ply, found[i]] = True
            actions[g, ply] = found[np.random.randint(count)]
            rows[g, ply + 1] = rows[g, ply]
            rules.play(rows[g, ply + 1], actions[g, ply])
            ply += 1
        actions[g, ply] = -1


def random_games(count, seed):
    """Yield for each position of random games (row, legal actions, action), the last with no legal one and -1."""
    game, plies = othello(), 90
    rows = np.zeros((count, plies, len(game.start_row)), np.int32)
    legal, actions = np.zeros((count, plies, 65), bool), np.zeros((count, plies), np.int32)
    _random_games(game.rules, game.start_row, 65, seed, rows, legal, actions)
    for g in range(count):
        for ply in range(plies):
            yield rows[g, ply], np.flatnonzero(legal[g, ply]).tolist(), int(actions[g, ply])
            if actions[g, ply] < 0:
                break


def test_a_thousand_random_games_go_as_in_openspiel():
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    spiel, start = pyspiel.load_game("othello"), othello().state_of
    twin, finished, passes = spiel.new_initial_state(), 0, 0
    for row, legal, action in random_games(1000, seed=1):
        state = start(row)
        assert (bool(row[OVER]), legal) == (twin.is_terminal(), twin.legal_actions()), f"\n{state}"
        if not legal:
            assert state.value * row[PLAYER] == twin.returns()[0], f"\n{state}"
            twin, finished = spiel.new_initial_state(), finished + 1
            continue
        assert row[PLAYER] == 1 - 2 * twin.current_player(), f"\n{state}"
        passes += legal == [64]
        twin.apply_action(action)
    assert finished == 1000 and passes > 100


def test_a_thousand_random_games_go_as_in_rust_reversi():
    rust_reversi = pytest.importorskip("rust_reversi", reason="rust-reversi is not installed")
    start, black = othello().state_of, rust_reversi.Turn.BLACK
    twin, finished = rust_reversi.Board(), 0
    for row, legal, action in random_games(1000, seed=2):
        state = start(row)
        assert bool(row[OVER]) == twin.is_game_over(), f"\n{state}"
        if not legal:
            result = int(twin.is_black_win()) - int(twin.is_white_win())
            discs = (twin.black_piece_num(), twin.white_piece_num())
            assert state.value * row[PLAYER] == result, f"\n{state}"
            assert state.score[:: int(row[PLAYER])] == discs, f"\n{state}"
            twin, finished = rust_reversi.Board(), finished + 1
            continue
        assert row[PLAYER] == (1 if twin.get_turn() == black else -1), f"\n{state}"
        assert legal == (twin.get_legal_moves_vec() or [64]), f"\n{state}"
        twin.do_pass() if action == 64 else twin.do_move(action)
    assert finished == 1000


@pytest.mark.parametrize("size, count", [(4, 100), (6, 30), (8, 15), (10, 10), (12, 5), (14, 2), (16, 2)])
def test_random_games_go_as_in_plain_python(size, count):
    game, rng = othello(size), np.random.default_rng(size)
    for _ in range(count):
        state, twin = game.start(), Plain(size)
        while legal := twin.legal():
            own, other, moves, ones = state.planes().transpose(2, 0, 1).astype(int)
            assert (own - other).tolist() == (np.array(twin.cells) * twin.player).tolist(), f"\n{state}"
            assert np.flatnonzero(moves).tolist() == [a for a in legal if a < size**2] and ones.all()
            assert (state.playerTurn, state.allowedActions, state.isEndGame) == (twin.player, legal, False)
            action = int(rng.choice(legal))
            twin.play(action)
            state = state.takeAction(action)[0]
            assert state.score == (twin.discs(twin.player), twin.discs(-twin.player)), f"\n{state}"
        lead = twin.discs(1) - twin.discs(-1)
        assert (state.isEndGame, state.allowedActions) == (True, []), f"\n{state}"
        assert state.value * state.playerTurn == np.sign(lead), f"\n{state}"


@pytest.mark.parametrize("size", [4, 8, 12])
def test_each_position_has_a_key_of_its_own(size):
    """Positions of the first five plies, told apart by their drawing (without the last move) and the player to move."""
    states, found = [othello(size).start()], {}
    for _ in range(5):
        states = [state.takeAction(a)[0] for state in states for a in state.allowedActions]
        new = {(str(s).replace("[", " ").replace("]", " "), s.playerTurn): s for s in states}
        for board, state in new.items():
            assert found.setdefault(board, state.id) == state.id
        states = list(new.values())
    assert len(found) > 300 and len(set(found.values())) == len(found)


def test_a_key_tells_who_is_to_move():
    game = othello()
    row = game.start_row.copy()
    row[0] = -1
    assert game.state_of(row).id != game.start().id


# ---- the contract


@pytest.mark.parametrize("size", [4, 6, 8, 10, 16])
def test_othello_keeps_the_contract_of_a_game(size):
    game = othello(size)
    assert len(game.symmetries) == 3  # those that keep the start: the two diagonals and the half turn
    assert check(game, games=40 // size) == []


def test_a_wrong_size_is_refused():
    for size in (0, 2, 7, 18):
        with pytest.raises(UserError, match=f"othello: expected size from 4 to 16 in steps of 2, got {size}"):
            othello(size)


# ---- what people type and see


def test_points_are_named_by_letter_and_row_from_the_top():
    assert drawn(str(play(othello(), "f5"))) == drawn("""
        1  -  -  -  -  -  -  -  -
        2  -  -  -  -  -  -  -  -
        3  -  -  -  -  -  -  -  -
        4  -  -  -  O  X  -  -  -
        5  -  -  -  X  X [X] -  -
        6  -  -  -  -  -  -  -  -
        7  -  -  -  -  -  -  -  -
        8  -  -  -  -  -  -  -  -
           a  b  c  d  e  f  g  h """)


def test_who_cannot_move_passes_which_is_left_out_of_a_line_and_marks_no_disc():
    game = othello()
    state = play(game, "f5f6d3g5h5h4f7h6")
    assert (state.playerTurn, [game.move_name(a) for a in state.allowedActions]) == (1, ["pass"])
    assert state.planes()[:, :, 2].sum() == 0
    state, value, done = state.takeAction(game.parse_move("pass"))
    assert (state.playerTurn, value, done) == (-1, 0.0, False)
    assert drawn(str(state)) == drawn("""
        1  -  -  -  -  -  -  -  -
        2  -  -  -  -  -  -  -  -
        3  -  -  -  X  -  -  -  -
        4  -  -  -  X  X  -  -  O
        5  -  -  -  X  X  X  O  O
        6  -  -  -  -  -  X  -  O
        7  -  -  -  -  -  X  -  -
        8  -  -  -  -  -  -  -  -
           a  b  c  d  e  f  g  h """)
    assert play(game, "f5f6d3g5h5h4f7h6 c5").id == state.takeAction(game.parse_move("c5"))[0].id


@pytest.mark.parametrize("size", [4, 6, 8, 10])
def test_a_transcript_without_passes_gives_back_the_game_with_them(size):
    game, rng = othello(size), np.random.default_rng(size)
    passes = 0
    for _ in range(80 // size):
        state, actions = game.start(), []
        while not state.isEndGame:
            actions.append(int(rng.choice(state.allowedActions)))
            state = state.takeAction(actions[-1])[0]
        names = [game.move_name(action) for action in actions]
        without = [name for name in names if name != "pass"]
        passes += len(names) - len(without)
        assert game.parse_moves("".join(without).upper()) == actions
        assert game.parse_moves(" ".join(without)) == game.parse_moves(", ".join(names)) == actions
        assert game.parse_moves("".join(names)) == actions
    assert passes > 0


@pytest.mark.parametrize(
    "text", ["f5d", "f9", "i5", "f5x", "f05", "55", "f5 passe", "pas", "f5-d6", "é5", "f" * 10_000]
)
def test_what_is_no_line_of_moves_is_refused_with_an_example(text):
    with pytest.raises(UserError, match=r"expected a move such as 'a1', got '") as error:
        othello().parse_moves(text)
    assert len(str(error.value)) < 100


def test_an_illegal_move_in_a_line_is_named_with_its_number_in_the_text():
    game = othello()
    with pytest.raises(UserError, match=r"move 2: illegal move f5 \(legal: f4 d6 f6\)"):
        play(game, "f5 f5 d6")
    with pytest.raises(UserError, match=r"move 1: illegal move pass \(legal: d3 c4 f5 e6\)"):
        play(game, "pass")
    with pytest.raises(UserError, match=r"move 11: expected a move such as 'a1', got 'zz'"):
        game.parse_moves("f5d6c3d3c4f4f6f3e6e7zz")


def test_a_position_set_up_is_the_one_that_was_played():
    """Up to the plies: a position does not tell how often somebody passed."""
    for size in (6, 8, 10):
        game, rng = games.make(f"othello(size={size})"), np.random.default_rng(size)
        state = game.start()
        while not state.isEndGame:
            found = game.set_up(state.owners, state.playerTurn)
            assert found.allowedActions == state.allowedActions and found.id == state.id
            assert np.array_equal(found.planes(), state.planes())
            state = state.takeAction(int(rng.choice(state.allowedActions)))[0]
        with pytest.raises(UserError, match="somebody can move"):
            game.set_up(state.owners, state.playerTurn)
