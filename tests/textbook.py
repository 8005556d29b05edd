"""A textbook MCTS of plain objects: the slow twin that the compiled search has to equal, visit by visit.

A node's value is for its player to move, an edge's W for the player who moves along it. The network's values
are to be multiples of a power of two: then sums are exact and their order cannot matter.
"""

import math

import numpy as np


class Edge:
    def __init__(self, inNode, action, P):
        self.inNode, self.outNode, self.action, self.nu = inNode, None, action, 0.0
        self.stats = {"N": 0, "W": 0.0, "Q": 0.0, "P": P}


class Node:
    def __init__(self, state):
        self.state, self.id, self.playerTurn = state, state.id, state.playerTurn
        self.value, self.edges = state.value, []

    @property
    def total(self):
        return sum(edge.stats["N"] for edge in self.edges)

    @property
    def Q(self):
        return (self.value + sum(edge.stats["W"] for edge in self.edges)) / (1 + self.total)


class Textbook:
    def __init__(self, state, *, cpuct=1.25, fpu=0.25, epsilon=0.25):
        self.cpuct, self.fpu, self.epsilon, self.noisy = cpuct, fpu, epsilon, False
        self.root = Node(state)
        self.tree = {self.root.id: self.root}

    def choose(self, node):
        """AGZ: argmax of Q + cpuct P sqrt(1 + sum N) / (1 + N), the first of equals."""
        noisy, scale, scores = node is self.root and self.noisy, self.cpuct * math.sqrt(1.0 + node.total), []
        unvisited = 0.0
        if self.fpu >= 0:
            known = sum(edge.stats["P"] for edge in node.edges if edge.stats["N"])
            unvisited = node.Q - (0.0 if node is self.root else self.fpu * math.sqrt(known))
        for edge in node.edges:
            P, N = edge.stats["P"], edge.stats["N"]
            if noisy:
                P = (1.0 - self.epsilon) * P + self.epsilon * edge.nu
            scores.append((edge.stats["Q"] if N else unvisited) + scale * P / (1.0 + N))
        return node.edges[scores.index(max(scores))]

    def moveToLeaf(self):
        node, breadcrumbs = self.root, []
        while node.edges:
            edge = self.choose(node)
            breadcrumbs.append(edge)
            if edge.outNode is None:
                state = node.state.takeAction(edge.action)[0]
                edge.outNode = self.tree.setdefault(state.id, Node(state))
            node = edge.outNode
        return node, node.value, node.state.isEndGame, breadcrumbs

    def expand(self, leaf, value, logits):
        legal = list(leaf.state.allowedActions)
        odds = [math.exp(float(logits[a]) - float(max(logits[legal]))) for a in legal]
        total = 0.0
        for o in odds:
            total += o
        priors = [float(np.float32(float(np.float32(o)) / total)) for o in odds]
        leaf.value = float(value)
        leaf.edges = [Edge(leaf, a, p) for a, p in zip(legal, priors, strict=True)]

    def backFill(self, leaf, value, breadcrumbs):
        for edge in breadcrumbs:
            stats = edge.stats
            stats["N"] += 1
            stats["W"] += value if edge.inNode.playerTurn == leaf.playerTurn else -value
            stats["Q"] = stats["W"] / stats["N"]

    def simulate(self, predictor):
        """Make one visit of the root (none when the root itself had to be expanded); return its actions."""
        leaf, value, done, breadcrumbs = self.moveToLeaf()
        if not done:
            values, logits = predictor(leaf.state.planes()[None])
            value = float(values[0])
            self.expand(leaf, value, logits[0])
        self.backFill(leaf, value, breadcrumbs)
        return [edge.action for edge in breadcrumbs]

    def changeRootMCTS(self, state):
        """Make a known position the root and forget what cannot be reached from it."""
        self.root, self.noisy = self.tree[state.id], False
        self.tree, new = {self.root.id: self.root}, [self.root]
        while new:
            out = [edge.outNode for edge in new.pop().edges if edge.outNode is not None]
            new += [node for node in out if node.id not in self.tree]
            self.tree |= {node.id: node for node in out}
