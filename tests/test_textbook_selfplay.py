"""Self-play in compiled code equals textbook.py's move by move under the same random numbers; textbook.py itself."""

import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import games
import textbook
from memory import Memory
from search.alphabeta import Minimax
from search.tables import PASSED, capacity_for
from support.search_cases import GAMES, Projection
from support.tiny_runs import jobs, tiny
from training.selfplay import SelfPlay

HERE = Path(__file__).parent.parent
PAPER = {
    "full_search_share": 1.0, "proofs": False, "look_ahead": 0, "endgame": 0, "forced_playouts": 0.0, "gumbel": 0,
    "random_opening_share": 0.0, "random_opening_plies": 0, "root_temperature": 1.0, "grow_sims": 0, "alpha": 0.0,
    "cpuct": 1.25, "epsilon": 0.25, "fpu_reduction": 0.25,
}  # fmt: skip
"""Settings by which the program plays as the textbook does."""
PLAYED = {**GAMES, "othello": games.make("othello(size=4)")}
GOLDEN, WORD = 0x9E3779B97F4A7C15, 2**64 - 1


class Stored(textbook.MCTS):
    """Knows where the compiled search keeps a node's moves: in that order it draws.

    It makes room for a move just before it may be visited, in the order of (noisy) priors, and swaps it there with
    another. It forgets what cannot be reached from the root only when the tree is nearly full.
    """

    def __init__(self, state, sims, **options):
        super().__init__(state, **options)
        self.sims, self.places, self.opened, self.dropped = sims, {}, {}, 0

    def stored(self, node):
        return self.places.setdefault(node, list(node.edges))

    def prior(self, edge):
        noisy = self.noisy and edge.inNode is self.root
        return (1.0 - self.epsilon) * edge.stats["P"] + self.epsilon * edge.nu if noisy else edge.stats["P"]

    def choose(self, node):
        places, n = self.stored(node), self.opened.setdefault(node, 0)
        fresh = [edge for edge in places[:n] if not edge.stats["N"]]
        if n < len(places) and (not fresh or (self.noisy and node is self.root)):
            best = max(fresh + places[n:], key=lambda edge: (self.prior(edge), -edge.action))
            at = places.index(best)
            if at >= n:
                places[at], places[n] = places[n], places[at]
                self.opened[node] = n + 1
        return super().choose(node)

    def changeRootMCTS(self, state):
        node = self.tree[state.id]
        if len(self.tree) + max(self.sims - node.total, 0) + PASSED > capacity_for(self.sims, 1):
            super().changeRootMCTS(state)
            self.dropped += 1
        self.root, self.noisy = node, False
        places, at = self.stored(node), 0
        while at < self.opened.get(node, 0):  # what was made room for but not visited goes back behind the others
            last = self.opened[node] - 1
            if places[at].stats["N"]:
                at += 1
            else:
                places[at], places[last] = places[last], places[at]
                self.opened[node] = last


class Draws:
    """Draws as a tree of the compiled search does, from a splitmix64 state that begins as the game's seed."""

    def __init__(self, seed, mcts):
        self.state, self.mcts = seed, mcts

    def uniform(self):
        self.state = (self.state + GOLDEN) & WORD
        x = (self.state + GOLDEN) & WORD
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & WORD
        x = (x ^ x >> 27) * 0x94D049BB133111EB & WORD
        return ((x ^ x >> 31) >> 11) / 2**53

    def log_gamma(self, alpha):
        """Marsaglia and Tsang 2000, "A simple method for generating gamma variables"."""
        boost = 0.0
        if alpha < 1.0:
            boost, alpha = math.log(1.0 - self.uniform()) / alpha, alpha + 1.0
        d = alpha - 1.0 / 3.0
        while True:
            radius = math.sqrt(-2.0 * math.log(1.0 - self.uniform()))
            x = radius * math.cos(2.0 * math.pi * self.uniform())
            v = (1.0 + x / math.sqrt(9.0 * d)) ** 3
            if v > 0.0 and math.log(1.0 - self.uniform()) < 0.5 * x * x + d - d * v + d * math.log(v):
                return boost + math.log(d * v)

    def dirichlet(self, alpha):
        """Of a move's draws this is the second: the first says whether its search is a full one."""
        self.uniform()
        stored = self.mcts.stored(self.mcts.root)
        drawn = {edge.action: np.float32(self.log_gamma(a)) for edge, a in zip(stored, alpha, strict=True)}
        most = max(drawn.values())
        shares = {action: np.float32(math.exp(float(log) - float(most))) for action, log in drawn.items()}
        total = 0.0
        for share in shares.values():
            total += float(share)
        return [np.float32(float(shares[edge.action]) / total) for edge in self.mcts.root.edges]

    def choice(self, actions, p):
        odds = {action: share / max(p) for action, share in zip(actions, p, strict=True)}
        x = self.uniform() * sum(odds.values())
        possible = [edge.action for edge in self.mcts.stored(self.mcts.root) if odds[edge.action]]
        for action in possible:
            x -= odds[action]
            if x < 0.0:
                return action
        return possible[-1]


def both(name, *, sims, count=4, tau1=3, run="run", book=None, **changes):
    """Yield (record, positions, twin of its tree) of games played by the program and by the textbook."""
    game, seeds = PLAYED[name], dict(jobs(count, run))
    config = tiny(**{**PAPER, "mcts_sims": sims, "turns_until_tau0": tau1, **changes})
    options = {"cpuct": config.cpuct, "fpu": config.fpu_reduction, "epsilon": config.epsilon, **(book or {})}
    for record in SelfPlay(game, config).play(Projection(game), jobs(count, run)):
        mcts = Stored(game.start(), sims, **options)
        draws = Draws(seeds[record.index], mcts)
        yield record, textbook.play_game(mcts, Projection(game), draws, sims=sims, turns_until_tau0=tau1), mcts


def differences(record, positions):
    """Return what differs of a game: its moves, its visits, its values, its result."""
    visits = np.zeros_like(record.visits)
    for told, position in zip(visits, positions, strict=False):
        told[list(position.visits)] = list(position.visits.values())
    found = {
        "moves": record.moves.tolist() == [p.action for p in positions],
        "visits": len(positions) == len(visits) and (visits == record.visits).all(),
        "values": record.values.tolist() == [float(np.float32(p.Q)) for p in positions],
        "result": [record.result * p.state.playerTurn for p in positions] == [p.z for p in positions],
    }
    return [name for name, same in found.items() if not same]


@pytest.mark.parametrize("changes", [{}, {"fpu_reduction": -1.0}, {"epsilon": 0.6, "cpuct": 2.5}, {"cache_size": 0}])
@pytest.mark.parametrize("name, sims", [("tictactoe", 25), ("connect4", 20), ("corridor", 25), ("othello", 30)])
def test_selfplay_equals_the_textbook_move_by_move(name, sims, changes):
    played = list(both(name, sims=sims, **changes))
    assert len(played) == 4
    for record, positions, _ in played:
        assert differences(record, positions) == []
        for state, total in ((p.state, sum(p.visits.values())) for p in positions):
            assert total >= sims or len(state.allowedActions) == 1
    assert len({tuple(record.moves) for record, *_ in played}) > 1


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("tau1", [0, 100])
def test_selfplay_equals_the_textbook_whether_moves_are_drawn_or_best(name, tau1):
    for record, positions, _ in both(name, sims=15, tau1=tau1, run="another run"):
        assert differences(record, positions) == []


def test_the_games_compared_pass_through_all_that_could_differ():
    """Double moves, forced moves, trees that were nearly full, ties, results of either kind."""
    seen = set()
    for name, sims in (("tictactoe", 25), ("connect4", 60), ("corridor", 60)):
        for record, positions, mcts in both(name, sims=sims, count=6):
            assert differences(record, positions) == []
            turns = [p.state.playerTurn for p in positions]
            seen |= {"double move"} if any(a == b for a, b in zip(turns, turns[1:], strict=False)) else set()
            seen |= {"forced move"} if any(len(p.visits) == 1 for p in positions) else set()
            seen |= {"forgotten"} if mcts.dropped else {"not forgotten"}
            seen |= {f"result {np.sign(record.result):g}"}
            tops = [list(p.visits.values()).count(max(p.visits.values())) for p in positions[3:]]
            seen |= {"tie"} if max(tops, default=1) > 1 else set()
    wanted = {"double move", "forced move", "forgotten", "not forgotten", "tie", "result 1", "result -1", "result 0"}
    assert seen == wanted


@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("book", [{"cpuct": 1.3}, {"fpu": 0.3}, {"epsilon": 0.3}], ids=str)
def test_the_comparison_of_games_sees_a_small_difference(name, book):
    assert any("visits" in differences(record, positions) for record, positions, _ in both(name, sims=25, book=book))


# ---- textbook.py itself


def test_it_needs_numpy_and_nothing_else(tmp_path):
    """Copied alone into an empty folder it is imported, does nothing, and loads no module of the program."""
    shutil.copy(HERE / "textbook.py", tmp_path)
    code = """
import sys
import numpy.random
sys.path.insert(0, ".")
before = set(sys.modules)
import textbook
parts = {name.split(".")[0] for name in sys.modules.keys() - before} - {"textbook", "numpy"}
print(*sorted(parts - set(sys.stdlib_module_names)))
"""
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "" and done.stderr == ""


def test_its_page_shows_lines_of_it():
    text, page = ((HERE / name).read_text(encoding="utf-8") for name in ("textbook.py", "docs/textbook.md"))
    shown = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(shown) > 5 and [block for block in shown if block not in text] == []
    parts = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    assert all(hasattr(textbook, name) for part in parts for name in re.findall(r"`(\w+)`", part))


def test_its_game_is_the_programs_in_every_position():
    ours, theirs = textbook.TicTacToe(), GAMES["tictactoe"]
    assert (ours.action_size, ours.input_shape) == (theirs.action_size, theirs.input_shape)
    ids, left = {}, [(ours.start(), theirs.start())]
    while left:
        state, twin = left.pop()
        if state.id in ids:
            assert ids[state.id] == twin.id
            continue
        ids[state.id] = twin.id
        assert (state.playerTurn, state.isEndGame, state.value) == (twin.playerTurn, twin.isEndGame, twin.value)
        assert state.allowedActions == twin.allowedActions
        assert state.planes().dtype == np.uint8 and (state.planes() == twin.planes()).all()
        for action in state.allowedActions:
            (after, *rest), (other, *theirs_rest) = state.takeAction(action), twin.takeAction(action)
            assert rest == theirs_rest
            left.append((after, other))
    assert len(ids) == len(set(ids.values())) == 5478


def test_its_symmetries_are_the_programs():
    def forms(game, state):
        found = game.identities(state.planes(), np.arange(9.0))
        return {(planes.tobytes(), tuple(pi.tolist())) for planes, pi in found}

    ours, theirs = textbook.TicTacToe(), GAMES["tictactoe"]
    state, twin = ours.start(), theirs.start()
    for action in (0, 1, 5):
        state, twin = state.takeAction(action)[0], twin.takeAction(action)[0]
    assert forms(ours, state) == forms(theirs, twin) and len(forms(ours, state)) == 8


def test_its_network_follows_the_gradient_of_the_loss():
    """One step without momentum, against differences of the loss."""
    rng, c = np.random.default_rng(0), 0.01
    network = textbook.Network(27, 9, rng, units=6)
    policy = np.where(rng.random((5, 9)) < 0.7, rng.random((5, 9)), 0.0)
    policy[:, 0] += 0.1
    policy = np.where(policy > 0, policy / policy.sum(axis=1, keepdims=True), textbook.ILLEGAL)
    batch = textbook.Batch(rng.integers(0, 2, (5, 3, 3, 3)), rng.choice([-1.0, 0.0, 1.0], 5), policy)

    def loss():
        """The formula of the paper, written again."""
        v, logits = network(batch.planes)
        total = np.sum((batch.value - v) ** 2)
        for row, pi in zip(logits, policy, strict=True):
            legal = pi >= 0
            total -= np.sum(pi[legal] * (row[legal] - np.log(np.sum(np.exp(row[legal])))))
        return total / 5 + c * sum(np.sum(W**2) for W in network.weights)

    wanted = []
    for W in network.weights:
        slopes = np.zeros_like(W)
        for place in np.ndindex(W.shape):
            kept, values = W[place], []
            for shift in (1e-6, -1e-6):
                W[place] = kept + shift
                values.append(loss())
            W[place], slopes[place] = kept, (values[0] - values[1]) / 2e-6
        wanted.append(slopes)
    before, first = [W.copy() for W in network.weights], loss()
    loss = network.step(batch, rate=0.5, momentum=0.0, c=c)
    assert loss == pytest.approx(first - c * sum(np.sum(W**2) for W in before))
    for W, old, slopes in zip(network.weights, before, wanted, strict=True):
        assert old - 0.5 * slopes == pytest.approx(W, abs=1e-6)


def test_a_game_by_numpys_random_numbers_is_a_game():
    game = GAMES["tictactoe"]
    one, again = (
        textbook.play_game(textbook.MCTS(game.start()), Projection(game), np.random.default_rng(7), sims=20,
                           turns_until_tau0=5)
        for _ in range(2)
    )  # fmt: skip
    assert [p.action for p in one] == [p.action for p in again] and [p.visits for p in one] == [p.visits for p in again]
    state = game.start()
    for position in one:
        assert position.state.id == state.id and list(position.visits) == state.allowedActions
        assert position.visits[position.action] > 0
        state = state.takeAction(position.action)[0]
    assert state.isEndGame
    assert all(p.z == state.value * state.playerTurn * p.state.playerTurn for p in one)


def test_pi_follows_the_visits():
    visits = {2: 30, 5: 60, 6: 0, 8: 60}
    assert textbook.make_pi(visits, tau=1) == pytest.approx({2: 0.2, 5: 0.4, 6: 0, 8: 0.4})
    assert textbook.make_pi(visits, tau=0) == {2: 0, 5: 0.5, 6: 0, 8: 0.5}
    assert textbook.make_pi(visits, tau=0.5) == pytest.approx({2: 1 / 9, 5: 4 / 9, 6: 0, 8: 4 / 9})


def test_a_batch_holds_the_memorys_targets_in_a_symmetry():
    """Equal to what the program's memory makes of the same game."""

    def rows(batch):
        columns = batch.planes, batch.value, batch.policy.round(6)
        return {(p.tobytes(), float(v), tuple(pi.tolist())) for p, v, pi in zip(*columns, strict=True)}

    game = GAMES["connect4"]
    (record, positions, _), *_ = both("connect4", sims=20, count=1)
    memory = Memory(game, 100)
    told = memory.positions(record)
    wanted = [rows(memory.batch(told, np.full(len(told.result), form))) for form in range(2)]
    drawn = textbook.sample(game, positions, 300, np.random.default_rng(0))
    assert [column.dtype for column in drawn[:3]] == [np.uint8, np.float32, np.float32]
    assert rows(drawn) == wanted[0] | wanted[1] and wanted[0] != wanted[1]


def test_every_line_of_play_finds_a_loss_where_there_is_one():
    game = GAMES["tictactoe"]
    for player in (1, -1):
        results = textbook.every_line(game.start(), player, lambda state: state.allowedActions[0])
        assert results[-1] > 0 and results[1] > 0
    solver = Minimax(game, table=1 << 14)

    def perfect(state):
        values = solver.solve_moves(state)
        return max(values, key=values.get)

    for player in (1, -1):
        results = textbook.every_line(game.start(), player, perfect)
        assert results[-1] == 0 and results[1] > 0 and results[0] > 0


def test_every_line_of_play_takes_all_replies_and_signs_by_the_player():
    game = GAMES["corridor"]
    start = game.start()
    for action in game.parse_moves("a1 b1 c1 d1 a2 b2 c2"):
        start = start.takeAction(action)[0] if action in start.allowedActions else start

    def count(state, player, choose):
        if state.isEndGame:
            return {state.value * state.playerTurn * player: 1}
        found = {}
        for action in choose(state) if state.playerTurn == player else state.allowedActions:
            for value, n in count(state.takeAction(action)[0], player, choose).items():
                found[value] = found.get(value, 0) + n
        return found

    for player in (1, -1):
        last = textbook.every_line(start, player, lambda state: state.allowedActions[-1])
        assert dict(last) == count(start, player, lambda state: state.allowedActions[-1:])
