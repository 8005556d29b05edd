"""Checks of the path from a game to a network's targets: rules, masks, signs, noise, symmetries, training.

Each uses a small fresh network or made-up evaluations, so that the right result is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from agent import Agent
from evaluation.game_contract import examine as examine_rules
from game import Game, GameState
from games.sizes import largest_of
from MCTS import MCTS, Evaluator, Node
from memory import ILLEGAL, Batch, Memory
from plugins.doctor.examination import Found, Patient, random_game
from plugins.doctor.toy_game import Strip
from search.tables import EXPANDED, TERMINAL, WAITING
from storage.game_record import GameRecord
from system.shell import quoted
from training.selfplay import SelfPlay

OURS = "this is a mistake in the framework's code or in a change to it: `bash tests/run.sh` narrows it down"
CLEAR = 50.0
"""A logit next to which others vanish."""
STEPS, FITTED = 200, 0.3
"""Training steps on one batch, and the fraction of its first loss above which it counts as not learned."""


def rules(patient: Patient) -> Found:
    found = examine_rules(patient.game, games=5)
    kept = f"kept in 5 games of {found.plies[0]} to {found.plies[1]} plies"
    return Found(
        not found.faults,
        found.faults[0] if found.faults else kept,
        "rules that keep the contract of game.py",
        f"python main.py check {quoted(patient.game.spec)}",
    )


def mask(patient: Patient) -> Found:
    """Illegal moves get exactly nothing in the search and in the loss; legal ones all, visited or not."""
    from model import softmax_cross_entropy_with_logits as loss

    faults = []
    for state in patient.positions:
        legal = np.isin(np.arange(patient.game.action_size), state.allowedActions)
        if legal.all() or legal.sum() < 2:
            continue
        logits = np.where(legal, 0.0, CLEAR).astype(np.float32)
        _, probs, _ = Agent("agent", patient.game, _always(0.0, logits)).get_preds(state)
        if probs[~legal].any() or abs(probs.sum() - 1) > 1e-6:
            faults.append(f"the network's answer gives {probs[~legal].sum():.3f} to illegal moves")
        mcts = _searched(patient.game, state, _always(0.0, logits), 1)
        priors = {action: edge.stats["P"] for action, edge in mcts.root.edges}
        if set(priors) != set(state.allowedActions) or abs(sum(priors.values()) - 1) > 1e-4:
            faults.append(f"the search's priors of legal moves sum to {sum(priors.values()):.3f}")
        target = np.where(legal, 0.0, ILLEGAL).astype(np.float32)
        unvisited = int(np.flatnonzero(legal)[-1])
        target[int(np.flatnonzero(legal)[0])] = 1.0
        even = np.zeros_like(logits)
        off, on = even.copy(), even.copy()
        off[~legal], on[unvisited] = CLEAR, 3.0
        losses = np.asarray(loss(np.stack([target] * 3), np.stack([even, off, on])), float)
        if abs(losses[1] - losses[0]) > 1e-4 or abs(losses[0] - np.log(legal.sum())) > 1e-3:
            faults.append("the loss depends on the logits of illegal moves")
        if losses[2] < losses[0] + 0.1:
            faults.append("the loss leaves out legal moves that were not visited")
        break
    return Found(
        not faults,
        "; ".join(faults) or "illegal moves get nothing, all legal ones are in priors and loss",
        "illegal moves at 0 in priors and loss, unvisited legal ones in the loss",
        OURS,
    )


def signs(patient: Patient) -> Found:
    """Values come up the tree for the player who moved, also where turns do not alternate."""
    faults = [
        f"{game.name}, {way}: {text}"
        for game in (patient.game, Strip())
        for way in ("whole search", "step by step")
        for text in (*_wrong_results(game, way), *_wrong_values(game, way))
    ]
    return Found(
        not faults,
        faults[0] if faults else "results and values come back for the player who moved",
        "a won position worth +1 to the winner, whoever is to move",
        OURS,
    )


def _wrong_results(game: Game, way: str) -> Iterator[str]:
    """Yield the faults of moves that end a game."""
    for seed in range(6):
        *_, before, end = random_game(game, seed)
        sims = 3 * len(before.allowedActions) + 20
        tree = _searched(game, before, _always(0.0, np.zeros(game.action_size)), sims, way)
        for action, edge in tree.root.edges:
            child = before.takeAction(action)[0]
            if child.isEndGame and edge.stats["N"]:
                wanted = child.value * child.playerTurn * before.playerTurn
                if abs(edge.stats["Q"] - wanted) > 1e-4:
                    yield f"a move with the result {wanted:+g} for its player has Q {edge.stats['Q']:+.2f}"


def _wrong_values(game: Game, way: str) -> Iterator[str]:
    """Yield the faults of values from a network that rates player 1 better everywhere."""
    state, tree = game.start(), MCTS(game, sims=60, cache_size=0)

    def answer(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        waiting = next(node for node in tree._nodes() if node._row["status"] == WAITING)
        return np.array([0.6 * waiting.playerTurn], np.float32), np.zeros((1, game.action_size), np.float32)

    _run(tree, state, answer, 40, way)
    for _, edge in tree.root.edges:
        if edge.stats["N"] and edge.outNode is not None and not _ends(edge.outNode):
            wanted = 0.6 * state.playerTurn
            if abs(edge.stats["Q"] - wanted) > 1e-3:
                yield f"a move worth {wanted:+.1f} to its player has Q {edge.stats['Q']:+.2f}"


def _ends(node: Node) -> bool:
    """True when a node or one below it is the end of a game."""
    below = [edge.outNode for _, edge in node.edges]
    return bool(node._row["status"] == TERMINAL) or any(_ends(child) for child in below if child is not None)


def noise(patient: Patient) -> Found:
    """Noise is at the root in self-play, nowhere else, and never in P."""
    game, faults = patient.game, []
    logits = np.random.default_rng(0).normal(size=game.action_size).astype(np.float32)
    agents = [Agent("agent", game, _always(0.0, logits)), Agent("agent", game, _always(0.0, logits), noisy=True)]
    roots = [agent.think(game.start(), sims) for sims in (20, 40) for agent in agents][2:]
    if any(edge.nu for _, edge in roots[0].edges):
        faults.append("a player who is not learning searches with noise")
    if len(roots[1].edges) > 1 and abs(sum(edge.nu for _, edge in roots[1].edges) - 1) > 1e-4:
        faults.append("the noise of a root does not sum to 1")
    priors = [np.array([edge.stats["P"] for _, edge in root.edges]) for root in roots]
    odds = np.exp(logits[game.start().allowedActions] - logits.max())
    if np.abs(priors[1] - odds / odds.sum()).max() > 1e-4 or np.abs(priors[0] - priors[1]).max() > 1e-6:
        faults.append("noise is written into P")
    play = SelfPlay(game, patient.small)
    for _ in play.play(_always(0.0, np.zeros(game.action_size)), [(i, i) for i in range(4)]):
        pass
    mcts = play.workers[0].mcts
    if not mcts.forest.noise.any():
        faults.append("self-play searches without noise")
    nodes = mcts.forest.nodes.reshape(len(mcts.forest.trees), -1)
    used = nodes[np.arange(nodes.shape[1]) < mcts.forest.trees["nodes"][:, None]]
    for row in used[(used["status"] == EXPANDED) & (used["count"] > 0)]:
        some = mcts.forest.moves["P"][row["first"] : row["first"] + row["count"]]
        if some.any() and np.ptp(some) > 1e-5:
            faults.append("self-play writes noise into P")
            break
    return Found(
        not faults,
        "; ".join(faults) or "at the root in self-play only, never in P",
        "noise at the root in self-play only, never in P",
        OURS,
    )


def symmetries(patient: Patient) -> Found:
    """A training position turned or mirrored is the position of the game turned or mirrored."""
    game, rng = largest_of(patient.game), np.random.default_rng(0)
    memory = Memory(game, 16, ownership=game.start().owners is not None)
    states = random_game(game, 0)
    moves = [_action_between(states[i], states[i + 1]) for i in range(len(states) - 1)]
    visits = np.zeros((len(moves), game.action_size), np.uint16)
    for row, state in zip(visits, states[:-1], strict=True):
        row[state.allowedActions] = rng.integers(0, 50, len(state.allowedActions))
        row[state.allowedActions[0]] = 50
    result = 0.5  # made up, so that a drawn game shows a wrong sign too
    record = GameRecord(0, np.array(moves, np.int16), visits, np.zeros(len(moves), np.float32), result)
    positions, faults = memory.positions(record), []
    for form, actions in enumerate([np.arange(game.action_size), *(s.actions for s in game.symmetries)]):
        batch, inverse, state = memory.batch(positions, np.full(len(moves), form)), np.argsort(actions), game.start()
        for i, move in enumerate(moves):
            legal = np.isin(np.arange(game.action_size), state.allowedActions)
            shares = np.where(legal, (visits[i] / visits[i].sum())[actions], ILLEGAL)
            if batch.value[i] != result * state.playerTurn:
                faults.append(f"form {form}, move {i + 1}: the result is not for the player to move")
            if (batch.planes[i] != state.planes()).any():
                faults.append(f"form {form}, move {i + 1}: the network would see another position")
            if np.abs(batch.policy[i] - shares).max() > 1e-5:
                faults.append(f"form {form}, move {i + 1}: the policy is another position's")
            state = state.takeAction(int(inverse[move]))[0]
        owners, turns = state.owners, [s.playerTurn for s in states[:-1]]
        if owners is not None and (batch.owners != np.multiply.outer(turns, owners)).any():
            faults.append(f"form {form}: the points belong to others than at the game's end")
    agree = f"{1 + len(game.symmetries)} forms of {len(moves)} positions agree"
    return Found(
        not faults,
        faults[0] if faults else agree,
        "targets that turn with the board, results for the player to move",
        f"python main.py check {quoted(game.spec)}; {OURS}",
    )


def _action_between(state: GameState, after: GameState) -> int:
    return int(next(a for a in state.allowedActions if state.takeAction(a)[0].id == after.id))


def overfitting(patient: Patient) -> Found:
    """A small network learns one batch by heart with the run's optimizer and learning rate."""
    states, game, rng = patient.positions, patient.game, np.random.default_rng(0)
    policy = np.full((len(states), game.action_size), ILLEGAL, np.float32)
    for row, state in zip(policy, states, strict=True):
        row[state.allowedActions] = 0.0
        row[rng.choice(state.allowedActions)] = 1.0
    planes = np.stack([state.planes() for state in states])
    batch = Batch(planes, rng.choice([-1.0, 1.0], len(states)).astype(np.float32), policy)
    trained = batch
    if patient.config.many_sizes:  # learned with a plane that shows the board, and evaluated without
        trained = batch._replace(planes=np.concatenate([planes, np.ones_like(planes[..., :1])], axis=-1))
    model, weights = patient.model, patient.model.get_weights()
    optimizer, rate = model.get_optimizer(), patient.config.learning_rate
    expected = f"both losses under {100 * FITTED:.0f} % of the first after {STEPS} steps at learning rate {rate:g}"
    usual = "0.003 with muon, 0.002 with adamw, 0.1 with sgd are usual"
    remedy = f"another --learning-rate ({usual}); if that does not help: {OURS}"
    before = _losses(model, batch)
    try:
        model.fit(lambda step: trained, STEPS)
        after = _losses(model, batch)
    except ArithmeticError as error:
        return Found(False, str(error), expected, remedy)
    finally:
        model.set_weights(weights)
        model.set_optimizer(optimizer)
    good = all(b < FITTED * a for a, b in zip(before, after, strict=True) if a > 0.05)
    words = f"value loss {before[0]:.2f} -> {after[0]:.3f}, policy loss {before[1]:.2f} -> {after[1]:.3f}"
    return Found(bool(good), f"{words} on a batch of {len(states)}", expected, remedy)


def _losses(model: Any, batch: Batch) -> tuple[float, float]:
    """Return the (value, policy) loss of the network in inference mode, not in training mode."""
    from model import softmax_cross_entropy_with_logits

    values, logits = model.predict(batch.planes)
    policy = np.asarray(softmax_cross_entropy_with_logits(batch.policy, logits), float)
    return float(((values - batch.value) ** 2).mean()), float(policy.mean())


# ---- searches with made-up answers


def _always(value: float, logits: np.ndarray) -> Evaluator:
    """Return a network with constant outputs."""
    row = np.asarray(logits, np.float32)
    return lambda planes: (np.full(len(planes), value, np.float32), np.tile(row, (len(planes), 1)))


def _searched(game: Game, state: GameState, predictor: Evaluator, sims: int, way: str = "whole search") -> MCTS:
    tree = MCTS(game, sims=max(sims, 2), cache_size=0)
    _run(tree, state, predictor, sims, way)
    return tree


def _run(tree: MCTS, state: GameState, predictor: Evaluator, sims: int, way: str) -> None:
    """Search by `MCTS.search`, or by the article's steps as `Agent.simulate` takes them."""
    if way == "whole search":
        tree.set_root(state, sims=sims)
        tree.search(predictor, sims)
        return
    agent = Agent("agent", tree.game, predictor, mcts_sims=sims)
    agent.MCTS = tree
    agent.buildMCTS(state)
    for _ in range(sims + 1):
        agent.simulate()


CHECKS = {
    "rules": rules,
    "mask": mask,
    "signs": signs,
    "noise": noise,
    "symmetries": symmetries,
    "overfitting": overfitting,
}
