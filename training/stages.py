"""The stages of an iteration: self-play, retraining, tournament. Each can be cut short anywhere and is then gone on
with, because what is finished is in run.db; done twice it changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from config import UserError
from evaluation.match import MatchGame
from evaluation.promotion import Verdict, tournament
from initialise import Session, Stopped
from memory import Batch, window
from network.predictor import measure_raw, side_by_side
from storage.checkpoints import drop_old_optimizers
from storage.fault_injection import reach
from storage.game_record import IMPORTED, GameRecord
from training.game_source import source_of
from training.learning_rate import learning_rates
from training.selfplay import Counts, longest_first

COMMIT_SECONDS = 3.0
"""Finished games reach the disk at least this often."""
RAW_SECONDS, RAW_EVERY = 0.1, 10.0
"""For how long the network alone is measured, and seconds until it is again: what else the machine does changes it."""


class Diverged(UserError):
    """Training gave numbers that are not finite, twice; nothing of it was kept."""

    exit_code = 4


def _never() -> bool:
    return False


def begin(session: Session) -> None:
    """Start the iteration's clock at what was worked on it before an interruption."""
    number, _, seconds = (session.store.get("spent") or "").partition(" ")
    session.began = time.perf_counter() - (float(seconds) if number == str(session.iteration) else 0.0)


def spent(session: Session) -> float:
    """Return the seconds of work in the iteration so far."""
    return time.perf_counter() - session.began


def _note_time(session: Session) -> None:
    """Keep how long the iteration has taken, in the transaction of what took the time."""
    session.store.put("spent", f"{session.iteration} {spent(session):.3f}")


def play_self(session: Session, stop: Callable[[], bool] = _never) -> None:
    """Play the iteration's missing games and put all of them into ltmemory; raise `Stopped` when `stop` ended it."""
    s, c, memory = session, session.config, session.memory
    iteration = s.iteration
    version = s.best_version if c.selfplay_with == "best" else s.current_version
    if s.remembered == iteration and "self-play" in s.store.finished(iteration):
        return  # interrupted after self-play
    s.check_space()
    memory.clear_stmemory()
    for record in s.store.games_of(iteration):
        memory.commit_stmemory(record)
    have = {record.index for record in memory.stmemory}
    wanted = [i for i in range(c.episodes) if i not in have]
    if time.perf_counter() - s.raw_at > RAW_EVERY:
        predictor = s.predictor("selfplay", version)
        s.raw_rate = measure_raw(predictor, s.game.input_shape, *side_by_side(s.game, c.selfplay), seconds=RAW_SECONDS)
        s.raw_at = time.perf_counter()
    pool = source_of(s).pool
    before, began = pool.counts(), time.perf_counter()
    if not _play(session, wanted, version, stop):
        memory.clear_stmemory()
        raise Stopped
    records = list(memory.stmemory)
    added = s.store.trained_positions(iteration)
    if s.remembered < iteration:
        memory.commit_ltmemory()
        s.remembered = iteration
    memory.clear_stmemory()
    if "self-play" not in s.store.finished(iteration):
        facts = _selfplay_facts(records)
        if len(wanted) < c.episodes:  # of what was played before an interruption only the time is known
            facts["seconds"] = spent(s)
        else:
            facts |= _rates(before, pool.counts(), time.perf_counter() - began, s.raw_rate)
        with s.store.transaction("self-play"):
            s.store.finish(iteration, "self-play", {**facts, "new_positions": added, "memory": len(memory)})
    told = iteration, len(records), added, len(memory)
    s.loggers.memory.info("iteration %d: %d games, %d positions, %d in ltmemory", *told)


def _play(session: Session, wanted: list[int], version: int, stop: Callable[[], bool]) -> bool:
    """Play games and keep them as they end; False when `stop` ended it early."""
    s, source = session, source_of(session)
    fresh: list[GameRecord] = []
    committed = began = time.perf_counter()
    before, done = source.pool.counts(), s.config.episodes - len(wanted)
    with s.console.phase("self-play", s.config.episodes, done) as phase:
        spec = source.spec(version)
        games = longest_first(s.config, spec.run, spec.iteration, wanted)
        for record in source.pool.play(spec, games, stop=stop):
            fresh.append(record)
            done += 1
            now = time.perf_counter()
            if now - committed > COMMIT_SECONDS:
                _keep(s, fresh, version)
                fresh, committed = [], now
            counts, spent = source.pool.counts(), now - began
            evaluations = (counts.evaluations - before.evaluations) / spent
            phase.update(
                done, games_per_s=(done + len(wanted) - s.config.episodes) / spent, evals_per_s=evaluations,
                share_of_raw=evaluations / s.raw_rate,
            )  # fmt: skip
    _keep(s, fresh, version)
    return done == s.config.episodes


def _keep(session: Session, records: list[GameRecord], version: int) -> None:
    with session.store.transaction("game"):
        session.store.add_games(session.iteration, version, records)
        _note_time(session)
    for record in records:
        session.memory.commit_stmemory(record)


def _selfplay_facts(records: list[GameRecord]) -> dict[str, Any]:
    imported = sum(r.index >= IMPORTED for r in records)
    records = [r for r in records if r.index < IMPORTED]
    results = np.array([r.result for r in records])
    distinct = len({r.moves.tobytes() for r in records})
    return {
        "games": len(records),
        "distinct_games": distinct,
        "plies": float(np.mean([len(r.moves) for r in records])),
        "first_wins": float((results > 0).mean()),
        "draws": float((results == 0).mean()),
        **({"imported": imported} if imported else {}),
    }


def _rates(before: Counts, after: Counts, seconds: float, raw: float) -> dict[str, float]:
    spent = {name: getattr(after, name) - getattr(before, name) for name in Counts._fields}
    return {
        "seconds": seconds,
        "evals_per_s": spent["evaluations"] / seconds,
        "sims_per_s": spent["simulations"] / seconds,
        "share": spent["evaluations"] / seconds / raw,
        "cache_hit_rate": spent["found"] / max(spent["looked_up"], 1),
        "mean_batch_fill": spent["evaluations"] / max(spent["batches"] * after.room, 1),
    }


def retrain(session: Session, stop: Callable[[], bool] = _never) -> None:
    """Train on batches of ltmemory and keep the result as the next version; wait while there are too few positions.

    Raises `Stopped` when `stop` ended it (that fit is thrown away) and `Diverged` when it gives no finite numbers,
    at half the learning rate either.
    """
    s, c = session, session.config
    iteration = s.iteration
    if "retrain" in s.store.finished(iteration):
        return
    if len(s.memory) < c.min_memory:
        with s.store.transaction("retrain"):
            s.store.finish(iteration, "retrain", {"steps": 0, "waits_for": c.min_memory})
        s.loggers.model.info("%d of %d positions, no training yet", len(s.memory), c.min_memory)
        return
    for share in (1.0, 0.5):
        try:
            facts = _fit(session, share, stop)
            break
        except ArithmeticError as error:
            s.restore()
            told = f"{error}; version {s.current_version} stays as it is"
            s.loggers.model.info("%s", told)
            if share < 1:
                raise Diverged(f"{told}; a smaller --learning-rate than {c.learning_rate:g} may help") from None
            s.console.say(f"  {told}: training again at half the learning rate")
        except BaseException:
            with suppress(UserError):  # told is what went wrong first
                s.restore()
            raise
    drop_old_optimizers(s.folder, s.current_version)
    losses = {name: round(value, 5) for name, value in facts.items() if "loss" in name}
    s.loggers.model.info("version %d: %s", s.current_version, losses)
    s.model.printWeightAverages(s.loggers.model.info)


def _fit(session: Session, share: float, stop: Callable[[], bool]) -> dict[str, Any]:
    """Train at a share of the learning rate and keep the version; return the facts of the stage."""
    s, c = session, session.config
    iteration, version = s.iteration, s.current_version + 1
    new = s.store.trained_positions(iteration)
    batches = c.training_loops or max(1, round(new * c.reuse / c.batch_size))
    steps = batches * c.epochs
    rates = [share * rate for rate in learning_rates(c, s.store, steps)]
    newest = window(c.first_window, s.store.positions_until(iteration))
    agent, began = s.agent(s.current_version, name="current_player", role="current"), time.perf_counter()

    def sample(step: int) -> Batch:
        rng = np.random.default_rng([c.seed, iteration, step])
        return s.memory.sample(
            c.batch_size, rng, newest=newest, value_from_search=c.value_from_search, duplicate_weight=c.duplicate_weight
        )

    def report(done: int) -> None:
        reach("fit.step")
        if stop():
            raise Stopped
        phase.update(done, positions_per_s=done * c.batch_size / (time.perf_counter() - began))

    with s.console.phase("retraining", steps) as phase:
        losses = agent.replay(sample, batches, epochs=c.epochs, rate=rates.__getitem__, report=report)
    seconds = time.perf_counter() - began
    facts = {"steps": steps, "seconds": seconds, "positions_per_s": steps * c.batch_size / seconds, **losses,
             "learning_rate": rates[-1]}  # fmt: skip
    with s.store.transaction("retrain"):
        s.save_version(version, iteration, losses)
        _note_time(s)
        s.store.put("steps", str(int(s.store.get("steps", "0") or 0) + steps))
        s.store.finish(iteration, "retrain", facts)
    return facts


def evaluate(session: Session, stop: Callable[[], bool] = _never) -> None:
    """Let current play best, and make it the best when it has proved better; raise `Stopped` when `stop` ended it.

    That is due every `eval_every` iterations and in the last one, which its seconds so far tell: what comes later in
    the iteration changes nothing about which is the last.
    """
    s, c = session, session.config
    iteration, current, best = s.iteration, s.current_version, s.best_version
    at = {"at_seconds": s.worked_seconds + spent(s)}
    due = iteration % c.eval_every == 0 or s.ends(iteration, at["at_seconds"])
    if "tournament" in s.store.finished(iteration):
        return
    if not due or current == best:
        with s.store.transaction("tournament"):
            s.store.finish(iteration, "tournament", {"played": 0, **at})
        return
    began = time.perf_counter()
    verdict = _tournament(session, current, best, stop)
    facts = {
        "played": verdict.score.games, "score": verdict.score.mean, "promoted": verdict.promoted,
        "words": verdict.words, "seconds": time.perf_counter() - began, **at,
    }  # fmt: skip
    with s.store.transaction("promote"):
        if verdict.promoted:
            s.store.put("best", str(current))
        s.store.finish(iteration, "tournament", facts)
    s.console.say(f"  version {current} against best version {best}: {verdict.words}")
    s.loggers.tourney.info("version %d against %d: %s", current, best, verdict.words)


def _tournament(session: Session, current: int, best: int, stop: Callable[[], bool]) -> Verdict:
    s, iteration = session, session.iteration

    def keep(games: list[MatchGame]) -> None:
        with s.store.transaction("match"):
            for g in games:
                moves = " ".join(s.game.move_name(a) for a in g.moves)
                opening = " ".join(s.game.move_name(a) for a in g.opening)
                s.store.add_match(iteration, g.index, (current, best, opening, int(g.first_began), g.score, moves))
                s.loggers.tourney.info("game %d: score %g, %s", g.index, g.score, moves)
            _note_time(s)
        if stop():
            raise Stopped

    known = s.store.match_scores(iteration)
    with s.console.phase("tournament", s.config.eval_episodes, len(known)) as phase:
        return tournament(
            s.game, s.agent(current, name="current_player", role="current", log=True),
            s.agent(best, name="best_player", role="best", log=True), s.config.tournament,
            seed=s.config.seed * 1_000_003 + iteration, known=known, keep=keep,
            report=phase.update,
        )  # fmt: skip


def finish_iteration(session: Session) -> dict[str, Any]:
    """Close the iteration; return its line of metrics.jsonl."""
    s, iteration, seconds = session, session.iteration, spent(session)
    stages = s.store.finished(iteration)
    line: dict[str, Any] = {
        "iteration": iteration, "version": s.current_version, "best_version": s.best_version,
        "seconds": round(seconds, 3), "total_seconds": round(s.worked_seconds + seconds, 3),
    }  # fmt: skip
    for stage, facts in stages.items():
        line |= {f"{stage.replace('-', '_')}_{k}": round(v, 6) if isinstance(v, float) else v for k, v in facts.items()}
    with s.store.transaction("iteration"):
        s.store.put("seconds", str(s.worked_seconds + seconds))
        s.store.put("spent", "")
        s.store.finish(iteration, "iteration", line)
        s.take_settings()
        s.store.put("finished", "no" if s.goes_on() else "yes")
    s.store.checkpoint()
    s.write_metrics()
    s.console.say(summary(line))
    s.loggers.main.info("%s", summary(line))
    return line


def summary(line: dict[str, Any]) -> str:
    """Return an iteration's line of metrics in words."""
    played = f"{line['self_play_games']} games of {line['self_play_plies']:.0f} moves"
    if "self_play_share" in line:
        played += f" ({line['self_play_evals_per_s']:,.0f} evaluations/s, {100 * line['self_play_share']:.0f} % of raw)"
    parts = [f"iteration {line['iteration']}: {played}", f"{line['self_play_memory']:,} positions"]
    if line.get("retrain_steps"):
        parts.append(
            f"version {line['version']}: loss {line['retrain_loss']:.3f} (value {line['retrain_value_loss']:.3f}, "
            f"policy {line['retrain_policy_loss']:.3f})"
        )
    elif "retrain_waits_for" in line:
        parts[1] += f" of the {line['retrain_waits_for']:,} from which on it learns"
    if "score_kept" in line:
        parts.append(
            f"keeps the value in {100 * line['score_kept_alone']:.0f} % of positions, "
            f"{100 * line['score_kept']:.0f} % at {line['score_sims']} simulations"
        )
    if "score_elo" in line:
        parts.append(f"Elo {line['score_elo']:.0f} ±{line['score_elo_error']:.0f} over rollout:16")
    parts.append(f"best is version {line['best_version']}, {line['seconds']:.0f} s")
    return "; ".join(parts)
