"""AlphaZero in one file, to be read next to the papers. It needs NumPy and nothing else: copy it where you like.

`MCTS` searches, `play_game` plays a game of self-play, `train` teaches the network; `main` does this in turns until
tic-tac-toe is learned: `python textbook.py`. The program beside this file does the same in compiled code, for many
games at once; without proofs and look-ahead its tests hold it equal to this file, visit by visit and move by move.
docs/textbook.md explains the file from one end to the other.

Values are within [-1, 1]: a node's is for its player to move, W and Q of an edge are for the player who moves along
it. Turns need not alternate, so a value's sign follows `playerTurn`, never the depth.

References: Silver et al. 2017, "Mastering the game of Go without human knowledge" (AGZ; cited by the headings of its
Methods); Silver et al. 2018, "A general reinforcement learning algorithm that masters chess, shogi, and Go through
self-play" (AZ); Wu 2019, "Accelerating self-play learning in Go", arXiv 1902.10565 (KataGo).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

Predictor = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""planes [B, rows, columns, planes] -> (value [B] for the player to move, logits [B, action_size] unmasked)."""
State = Any
"""A position: `Board`, or another class with the same attributes."""


# ---- the game: all that the rest of the file knows of the rules is what these two classes have


class Board:
    """A position of tic-tac-toe; it never changes. An action is a cell, in row order from the top left."""

    LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]

    def __init__(self, cells: tuple[int, ...] = (0,) * 9, playerTurn: int = 1) -> None:
        self.cells = cells
        """[9]: 1 where the player who began has a mark, -1 where the other has one, else 0."""
        self.playerTurn = playerTurn  # 1 or -1
        self.id: Hashable = cells, playerTurn  # equal ids mean equal futures
        lost = any(all(cells[i] == -playerTurn for i in line) for line in self.LINES)
        self.value = -1.0 if lost else 0.0  # for the player to move; 0 before the end
        self.isEndGame = lost or 0 not in cells
        self.allowedActions = [] if self.isEndGame else [i for i in range(9) if cells[i] == 0]

    def takeAction(self, action: int) -> tuple[Board, float, bool]:
        """Return the next position, its value for its player to move, and whether it is over."""
        cells = (*self.cells[:action], self.playerTurn, *self.cells[action + 1 :])
        after = Board(cells, -self.playerTurn)
        return after, after.value, after.isEndGame

    def planes(self) -> np.ndarray:
        """Return [3, 3, 3] what the network sees: marks of the player to move, marks of the other, ones."""
        own = np.array(self.cells).reshape(3, 3) * self.playerTurn
        return np.stack([own == 1, own == -1, np.ones((3, 3))], axis=-1).astype(np.uint8)


class TicTacToe:
    """What holds for all positions."""

    action_size = 9
    input_shape = (3, 3, 3)

    def start(self) -> Board:
        return Board()

    def identities(self, planes: np.ndarray, pi: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return a position and its policy, turned and mirrored in all eight ways."""
        forms = []
        for turns in range(4):
            board, policy = np.rot90(planes, turns), np.rot90(pi.reshape(3, 3), turns)
            forms += [(board, policy.ravel()), (board[:, ::-1], policy[:, ::-1].ravel())]
        return forms


# ---- search


class Edge:
    """A legal move of a node; `outNode` is None before the first visit."""

    def __init__(self, inNode: Node, action: int, P: float) -> None:
        self.inNode, self.action = inNode, action
        self.outNode: Node | None = None
        self.stats: dict[str, float] = {"N": 0, "W": 0.0, "Q": 0.0, "P": P}
        """N visits, W the sum of their values, Q = W / N, P the network's prior (AGZ, "Search algorithm")."""
        self.nu = 0.0  # its share of the noise, at the root; P stays as the network said


class Node:
    """A position in the tree."""

    def __init__(self, state: State) -> None:
        self.state, self.id, self.playerTurn = state, state.id, state.playerTurn
        self.value = state.value
        """The result where the game is over, else the network's value once it has been evaluated."""
        self.edges: list[Edge] = []  # none of a leaf, else one for each legal move, by action

    @property
    def total(self) -> float:
        """Sum N of the edges."""
        return sum(edge.stats["N"] for edge in self.edges)

    @property
    def Q(self) -> float:
        """What the search says of the position: the mean of the network's value and those of all visits."""
        return (self.value + sum(edge.stats["W"] for edge in self.edges)) / (1 + self.total)


class MCTS:
    """A search tree; paths that lead to the same state, by its id, share a node."""

    def __init__(self, state: State, *, cpuct: float = 1.25, fpu: float = 0.25, epsilon: float = 0.25) -> None:
        self.cpuct, self.fpu, self.epsilon = cpuct, fpu, epsilon
        self.root = Node(state)
        self.tree: dict[Hashable, Node] = {self.root.id: self.root}
        self.noisy = False  # no noise at the root

    def search(self, predictor: Predictor, sims: int, rng: Generator | None = None) -> None:
        """Simulate until the root has `sims` visits, kept ones included, or 1 if only one move is legal.

        With `rng` the root gets noise.
        """
        if not self.root.edges:
            self.simulate(predictor)
        if rng is not None:
            self.add_noise(rng)
        while self.root.total < (sims if len(self.root.edges) > 1 else 1):
            self.simulate(predictor)

    def simulate(self, predictor: Predictor) -> list[Edge]:
        """Do one simulation; return its path, which is empty when the root had to be expanded first."""
        leaf, breadcrumbs = self.moveToLeaf()
        self.evaluateLeaf(leaf, predictor)
        self.backFill(leaf, breadcrumbs)
        return breadcrumbs

    def moveToLeaf(self) -> tuple[Node, list[Edge]]:
        """Walk from the root to a leaf; return it and the path (AGZ, "Select")."""
        node, breadcrumbs = self.root, []
        while node.edges:
            edge = self.choose(node)
            breadcrumbs.append(edge)
            if edge.outNode is None:
                state = node.state.takeAction(edge.action)[0]
                edge.outNode = self.tree.setdefault(state.id, Node(state))
            node = edge.outNode
        return node, breadcrumbs

    def choose(self, node: Node) -> Edge:
        """Return the edge with the largest Q + U, the first of equals; U = cpuct P sqrt(1 + sum N) / (1 + N).

        PUCT (AGZ, "Select"; there without 1 + under the root, by which the first visit follows P). Under noise
        (1 - epsilon) P + epsilon nu stands for P at the root (AGZ, "Self-play").
        """
        scale, unvisited, scores = self.cpuct * math.sqrt(1.0 + node.total), self.unvisited_q(node), []
        for edge in node.edges:
            N, Q, P = edge.stats["N"], edge.stats["Q"], edge.stats["P"]
            if self.noisy and node is self.root:
                P = (1.0 - self.epsilon) * P + self.epsilon * edge.nu
            scores.append((Q if N else unvisited) + scale * P / (1.0 + N))
        return node.edges[scores.index(max(scores))]

    def unvisited_q(self, node: Node) -> float:
        """Return what stands for Q of moves without a visit: "first-play urgency".

        The node's own Q - fpu sqrt(sum of the visited moves' P), at the root without this reduction (KataGo); 0 where
        fpu is negative (AGZ).
        """
        if self.fpu < 0:
            return 0.0
        visited = sum(edge.stats["P"] for edge in node.edges if edge.stats["N"])
        return node.Q - (0.0 if node is self.root else self.fpu * math.sqrt(visited))

    def evaluateLeaf(self, leaf: Node, predictor: Predictor) -> None:
        """Evaluate a leaf where the game is not over with the network, and expand it (AGZ, "Expand and evaluate").

        P is the softmax of the legal moves' logits (AZ, Methods), shifted by the largest of them so that no power
        overflows, in the precision of float32 as in the program's tables.
        """
        if leaf.state.isEndGame:
            return
        values, logits = predictor(leaf.state.planes()[None])
        legal = list(leaf.state.allowedActions)
        weights = np.exp(logits[0, legal] - np.float64(logits[0, legal].max()))
        P = (weights.astype(np.float32) / weights.sum()).astype(np.float32)
        leaf.value = float(values[0])
        leaf.edges = [Edge(leaf, action, p) for action, p in zip(legal, P.tolist(), strict=True)]

    def backFill(self, leaf: Node, breadcrumbs: Sequence[Edge]) -> None:
        """Add the leaf's value to the edges of the path, to each for its own player (AGZ, "Backup")."""
        for edge in breadcrumbs:
            stats = edge.stats
            stats["N"] += 1
            stats["W"] += leaf.value if edge.inNode.playerTurn == leaf.playerTurn else -leaf.value
            stats["Q"] = stats["W"] / stats["N"]

    def add_noise(self, rng: Generator) -> None:
        """Draw nu ~ Dirichlet(alpha) for the root's edges (AGZ, "Self-play").

        alpha = 10.83 / number of legal moves (KataGo): 0.03 for Go's 361 as in AGZ, in inverse proportion as in AZ.
        """
        edges = self.root.edges
        for edge, nu in zip(edges, rng.dirichlet([10.83 / len(edges)] * len(edges)), strict=True):
            edge.nu = float(nu)
        self.noisy = True

    def changeRootMCTS(self, state: State) -> None:
        """Make a position of the tree the root; forget what cannot be reached from it (AGZ, "Play")."""
        self.root, self.noisy = self.tree[state.id], False
        self.tree, reached = {}, [self.root]
        while reached:
            node = reached.pop()
            self.tree[node.id] = node
            out = [edge.outNode for edge in node.edges if edge.outNode is not None]
            reached += [node for node in out if node.id not in self.tree]


def make_pi(visits: dict[int, float], tau: float) -> dict[int, float]:
    """Return {action: probability ~ N^(1 / tau)} for {action: N}; at tau = 0 only of the most visited (AGZ, "Play")."""
    most = max(visits.values())
    weights = {action: (N / most) ** (1 / tau) if tau else float(N == most) for action, N in visits.items()}
    return {action: o / sum(weights.values()) for action, o in weights.items()}


# ---- self-play


class Position(NamedTuple):
    """A move of a game of self-play: where, what the search found, what was played, how the game ended.

    visits: {action: N} of all legal moves; Q of the root and the result z are for the player to move.
    """

    state: State
    visits: dict[int, float]
    action: int
    Q: float
    z: float


def play_game(mcts: MCTS, predictor: Predictor, rng: Generator, *, sims: int, turns_until_tau0: int) -> list[Position]:
    """Play a game from the root of `mcts` to its end, with one tree (AGZ, "Self-play").

    tau is 1 for the first `turns_until_tau0` moves, then 0. All chance comes from `rng.dirichlet` and `rng.choice`.
    """
    state, game = mcts.root.state, list[Position]()
    while not state.isEndGame:
        mcts.search(predictor, sims, rng)
        visits = {edge.action: edge.stats["N"] for edge in mcts.root.edges}
        pi = make_pi(visits, tau=1 if len(game) < turns_until_tau0 else 0)
        action = int(rng.choice(list(pi), p=list(pi.values())))
        game.append(Position(state, visits, action, mcts.root.Q, z=0.0))
        state = state.takeAction(action)[0]
        mcts.changeRootMCTS(state)
    return [p._replace(z=state.value if p.state.playerTurn == state.playerTurn else -state.value) for p in game]


# ---- learning


class Network:
    """One hidden layer, where the papers have a tower of residual blocks. What it gives and its loss are theirs."""

    def __init__(self, inputs: int, action_size: int, rng: Generator, *, units: int = 256) -> None:
        shapes = (inputs, units), (units, 1 + action_size)
        self.weights = [rng.normal(0.0, 1.0 / math.sqrt(rows), (rows, columns)) for rows, columns in shapes]
        self.changes = [np.zeros(shape) for shape in shapes]

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values and logits of a batch, as a `Predictor` does."""
        _, _, v, logits = self.forward(planes)
        return v, logits

    def forward(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return (inputs, hidden units, values, logits)."""
        x = planes.reshape(len(planes), -1).astype(np.float64)
        hidden = np.maximum(x @ self.weights[0], 0.0)
        out = hidden @ self.weights[1]
        return x, hidden, np.tanh(out[:, 0]), out[:, 1:]

    def step(self, batch: Batch, rate: float, momentum: float = 0.9, c: float = 1e-4) -> float:
        """Follow the gradient of the loss (z - v)^2 - pi log p + c |weights|^2 once (AGZ, "Optimization").

        Return the loss without its last term.
        """
        x, hidden, v, logits = self.forward(batch.planes)
        legal, z = batch.policy != ILLEGAL, batch.value
        pi = np.where(legal, batch.policy, 0.0)
        weights = np.where(legal, np.exp(logits - logits.max(axis=1, keepdims=True)), 0.0)
        p = weights / weights.sum(axis=1, keepdims=True)
        to_out = np.column_stack([2.0 * (v - z) * (1.0 - v**2), p - pi]) / len(z)  # the loss by each output
        to_hidden = to_out @ self.weights[1].T * (hidden > 0.0)
        for W, change, gradient in zip(self.weights, self.changes, (x.T @ to_hidden, hidden.T @ to_out), strict=True):
            change[:] = momentum * change - rate * (gradient + 2.0 * c * W)
            W += change
        return float(np.mean((z - v) ** 2 - np.sum(pi * np.log(p, where=pi > 0, out=np.zeros_like(p)), axis=1)))


class Batch(NamedTuple):
    """What the network learns from in one step."""

    planes: np.ndarray
    """[B, rows, columns, planes] uint8"""
    value: np.ndarray
    """[B] float32: z, for the player to move"""
    policy: np.ndarray
    """[B, action_size] float32: pi of legal moves, ILLEGAL elsewhere"""


ILLEGAL = -1.0


def sample(game: Any, window: Sequence[Position], count: int, rng: Generator) -> Batch:
    """Draw (s, pi, z) to learn from, each in one of the board's symmetries; pi is of tau = 1 (AZ, pseudocode)."""
    drawn = []
    for i in rng.integers(len(window), size=count):
        target = np.full(game.action_size, ILLEGAL, np.float32)
        for action, probability in make_pi(window[i].visits, tau=1).items():
            target[action] = probability
        forms = game.identities(window[i].state.planes(), target)
        drawn.append((*forms[rng.integers(len(forms))], window[i].z))
    planes, policies, values = zip(*drawn, strict=True)
    return Batch(np.array(planes), np.array(values, np.float32), np.array(policies))


def train(network: Network, game: Any, window: Sequence[Position], steps: int, rate: float, rng: Generator) -> float:
    """Train on `steps` batches of 64 positions; return the mean loss."""
    return float(np.mean([network.step(sample(game, window, 64, rng), rate) for _ in range(steps)]))


# ---- how well it plays, and what it has learned


def every_line(state: State, player: int, choose: Callable[[State], int]) -> Counter[float]:
    """Count the results for `player` (1 or -1), who plays by `choose`, of the games with all replies of the other."""
    if state.isEndGame:
        return Counter([state.value if state.playerTurn == player else -state.value])
    results: Counter[float] = Counter()
    for action in [choose(state)] if state.playerTurn == player else state.allowedActions:
        results += every_line(state.takeAction(action)[0], player, choose)
    return results


def searched(state: State, predictor: Predictor, sims: int) -> Node:
    """Return the root of a search without noise."""
    mcts = MCTS(state)
    mcts.search(predictor, sims)
    return mcts.root


def best(root: Node) -> int:
    """Return the most visited move."""
    return max(root.edges, key=lambda edge: edge.stats["N"]).action


def judge(game: TicTacToe, predictor: Predictor, sims: int) -> int:
    """Print how searches of `sims` visits do against every possible line of replies; return the lines lost."""
    lost = 0
    for player, name in (1, "first"), (-1, "second"):
        results = every_line(game.start(), player, lambda state: best(searched(state, predictor, sims)))
        lost += results[-1]
        print(f"  moves {name}: {results[1]} lines won, {results[0]} drawn, {results[-1]} lost")
    return lost


def show(game: TicTacToe, predictor: Predictor, sims: int) -> None:
    """Print as boards what the network and its search say of three positions, and a game against itself."""
    print("\nthree positions; on free cells the network's priors P, then the search's visits N, in % of all:\n")
    for moves in ([], [0], [0, 4, 8, 2]):
        state = game.start()
        for action in moves:
            state = state.takeAction(action)[0]
        root = searched(state, predictor, sims)
        P = {edge.action: edge.stats["P"] for edge in root.edges}
        N = {edge.action: edge.stats["N"] / root.total for edge in root.edges}
        notes = [f"{' XO'[state.playerTurn]} to move", f"network's value {root.value:+.2f}", f"search's {root.Q:+.2f}"]
        for row, (one, other) in enumerate(zip(drawn(state, P), drawn(state, N), strict=True)):
            print(f"  {one}     {other}     {notes[row]}")
        print()
    state, boards = game.start(), []
    while not state.isEndGame:
        state = state.takeAction(best(searched(state, predictor, sims)))[0]
        boards.append(drawn(state, {}))
    print("a game against itself:\n")
    print("\n".join("  " + "    ".join(rows) for rows in zip(*boards, strict=True)))


def drawn(state: Board, shares: dict[int, float]) -> list[str]:
    """Return the rows of a drawing: marks, and on free cells these shares in %."""
    marks = {1: "X", -1: "O", 0: "."}
    cells = [f"{100 * shares[i]:.0f}" if i in shares else marks[state.cells[i]] for i in range(9)]
    width = 3 if shares else 1
    return [" ".join(cell.rjust(width) for cell in cells[start : start + 3]) for start in (0, 3, 6)]


def main(seed: int = 0, iterations: int = 35, episodes: int = 40, sims: int = 50) -> int:
    """Learn tic-tac-toe; return how many lines are lost in the end."""
    game, rng, window = TicTacToe(), np.random.default_rng(seed), list[Position]()
    network = Network(math.prod(game.input_shape), game.action_size, rng)
    print("against every line of play, before it has learned anything:")
    judge(game, network, sims)
    for iteration in range(1, iterations + 1):
        played = [play_game(MCTS(game.start()), network, rng, sims=sims, turns_until_tau0=9) for _ in range(episodes)]
        window = (window + [position for positions in played for position in positions])[-4000:]
        rate = 0.1 if iteration <= 0.6 * iterations else 0.02  # it falls, as in AGZ
        loss = train(network, game, window, 80, rate, rng)
        z = Counter(positions[0].z for positions in played)
        print(f"iteration {iteration}: X won {z[1]}, O won {z[-1]}, {z[0]} drawn; loss {loss:.3f}", flush=True)
    print("against every line of play, after that:")
    lost = judge(game, network, sims)
    show(game, network, sims)
    print("\nit can be beaten" if lost else "\nit never loses")
    return lost


if __name__ == "__main__":
    main()
