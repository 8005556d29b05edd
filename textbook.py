"""AlphaZero in one file of plain objects, to be read next to the papers. Nothing of the program imports it.

`MCTS` searches, `play_game` plays a game of self-play, `train` teaches the network; `main` does this in turns until
tic-tac-toe is learned: `python textbook.py`. The program does the same in compiled code, for many games at once;
without proofs and look-ahead its tests hold it equal to this file, visit by visit and move by move. Game and network
are the program's own.

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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

import games
from game import Game, GameState
from memory import ILLEGAL, Batch
from network.choose_predictor import make_predictor
from training.presets import preset

if TYPE_CHECKING:
    from model import Gen_Model

Predictor = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""planes [B, rows, columns, planes] -> (value [B] for the player to move, logits [B, action_size] unmasked)."""


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

    def __init__(self, state: GameState) -> None:
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

    def __init__(self, state: GameState, *, cpuct: float = 1.25, fpu: float = 0.25, epsilon: float = 0.25) -> None:
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

    def changeRootMCTS(self, state: GameState) -> None:
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

    state: GameState
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


def sample(game: Game, window: Sequence[Position], count: int, rng: Generator) -> Batch:
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


def train(network: Gen_Model, window: Sequence[Position], steps: int, rng: Generator) -> float:
    """Train on `steps` batches; return the mean loss, ((z - v)^2 - pi log p) / 2 (AGZ, "Optimization")."""
    batches = [sample(network.game, window, network.config.batch_size, rng) for _ in range(steps)]
    return network.fit(batches.__getitem__, steps)["loss"]


# ---- tic-tac-toe


def every_line(state: GameState, player: int, choose: Callable[[GameState], int]) -> Counter[float]:
    """Count the results for `player` (1 or -1), who plays by `choose`, of the games with all replies of the other."""
    if state.isEndGame:
        return Counter([state.value if state.playerTurn == player else -state.value])
    results: Counter[float] = Counter()
    for action in [choose(state)] if state.playerTurn == player else state.allowedActions:
        results += every_line(state.takeAction(action)[0], player, choose)
    return results


def judge(game: Game, predictor: Predictor, sims: int) -> int:
    """Print how searches of `sims` visits do against every possible line of replies; return the lines lost."""

    def choose(state: GameState) -> int:
        mcts = MCTS(state)
        mcts.search(predictor, sims)
        return max(mcts.root.edges, key=lambda edge: edge.stats["N"]).action

    lost = 0
    for player, name in (1, "first"), (-1, "second"):
        results = every_line(game.start(), player, choose)
        lost += results[-1]
        print(f"  moves {name}: {results[1]} lines won, {results[0]} drawn, {results[-1]} lost")
    return lost


def main(seed: int = 0, iterations: int = 80, episodes: int = 40, sims: int = 50) -> int:
    """Learn tic-tac-toe; return how many lines are lost in the end."""
    from model import make_network  # loads Keras, which takes seconds

    game, rng, window = games.make("tictactoe"), np.random.default_rng(seed), list[Position]()
    network = make_network(preset("tiny", seed=seed, batch_size=64, precision="float32"), game)
    predictor = make_predictor(network)
    print("against every line of play, before it has learned anything:")
    judge(game, predictor, sims)
    for iteration in range(1, iterations + 1):
        played = [play_game(MCTS(game.start()), predictor, rng, sims=sims, turns_until_tau0=5) for _ in range(episodes)]
        window = (window + [position for positions in played for position in positions])[-4000:]
        loss = train(network, window, 40, rng)
        predictor.load(network.get_weights())
        z = Counter(positions[0].z for positions in played)
        print(f"iteration {iteration}: X won {z[1]}, O won {z[-1]}, {z[0]} drawn; loss {loss:.3f}")
    print("against every line of play, after that:")
    lost = judge(game, predictor, sims)
    print("it can be beaten" if lost else "it never loses")
    return lost


if __name__ == "__main__":
    main()
