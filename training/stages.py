"""The stages of an iteration: self-play, retraining, tournament, and its end.

Each can be interrupted at any point and resumes from run.db; a finished one does nothing when called again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from config import NO_TOURNAMENT, UserError
from evaluation.match import MatchGame
from evaluation.promotion import Verdict, tournament
from initialise import Session, Stopped
from network.backend import chosen_backend, last_of, trained_by, with_backend
from network.predictor import measure_raw
from storage.checkpoints import drop_old_optimizers
from storage.game_record import IMPORTED, GameRecord
from storage.position_data import DATA
from training.divergence import Diverged, forget_steps_back, rate_shares, require_finite_answers, stepping_back
from training.fit import Fit, games_until, lag_facts, nothing_to_learn
from training.iteration_table import LEGEND, heading, row, sentence
from training.selfplay import Counts, longest_first
from training.size_plan import parts_of
from training.stage_bookkeeping import Stage, never, spent
from training.work import source_of, work_of

COMMIT_SECONDS = 3.0
"""Finished games are written to disk at least this often, in seconds."""
RAW_SECONDS, RAW_EVERY = 0.1, 10.0
"""Seconds for which the network alone is measured, and seconds from one measurement to the next: the machine's load
changes its speed."""


# ---- self-play


def play_self(session: Session, stop: Callable[[], bool] = never, fit: Fit | None = None) -> None:
    """Play the iteration's missing games and put all of its games into ltmemory; raise `Stopped` when `stop` ended it.

    A session that resumes after self-play enters the stage again to load the games into memory. With lag 1 they wait
    for the next iteration; `fit`, if given, is started and learns from those before.
    """
    s, c, stage = session, session.config, Stage(session, "self-play", stop)
    if stage.finished and (c.lag or s.memory.until == stage.iteration):
        return
    s.check_space()
    version = s.best_version if c.selfplay_with == "best" else s.current_version
    missing = _load_kept_games(s)
    if "retrain" in stage.earlier:  # a recovered run lost them; the newest network has learned from them
        missing = []
    _measure_raw_rate(s, version)
    pool = source_of(s).pool  # before the training begins, as it may read the network
    if fit is not None:
        fit.start()
        words = "iteration %d: version %d plays, version %d is learned from the games up to iteration %d"
        s.loggers.main.info(words, stage.iteration, version, fit.version, games_until(s))
    before = pool.counts()
    with stepping_back(s):
        complete = _play(stage, missing, version, fit)
    if not complete:
        s.memory.clear_stmemory()
        raise Stopped
    records = _remember(s)
    new = s.store.trained_positions(stage.iteration)
    if not stage.finished:
        facts = _selfplay_facts(records) | ({"version": version} if c.lag else {})
        facts["evaluations"] = _evaluated(stage)
        if len(missing) < c.episodes:  # of the games played before an interruption only the time is known
            facts["seconds"] = spent(s)
        else:
            facts |= _rates(before, pool.counts(), stage.seconds)
            facts |= _share(facts["evals_per_s"], s, "share")
        stage.end({**facts, "new_positions": new, "memory": len(s.memory)})
    counts = stage.iteration, len(records), new, len(s.memory)
    s.loggers.memory.info("iteration %d: %d games, %d positions, %d in ltmemory", *counts)


def _load_kept_games(session: Session) -> list[int]:
    """Load the iteration's games on disk into stmemory; return the indices of the games still to be played."""
    parts_of(session, ())  # stores the plan of a run of several sizes, which names the board of imported games as well
    session.memory.clear_stmemory()
    for record in session.store.games_of(session.iteration):
        session.memory.commit_stmemory(record)
    kept = {record.index for record in session.memory.stmemory}
    return [i for i in range(session.config.episodes) if i not in kept]


def _measure_raw_rate(session: Session, version: int) -> None:
    """Measure the evaluations per second of the network alone, unless that was done a moment ago."""
    s, work = session, work_of(session)
    if time.perf_counter() - work.raw_at <= RAW_EVERY or not _has_one_rate(s):
        return
    predictor = s.predictor("selfplay", version)
    plan, speed = work.source.measured.plan, work.source.measured.speed
    if speed:
        work.raw_rate = speed.rate
    else:
        work.raw_rate = measure_raw(predictor, s.game.input_shape, plan.games, plan.threads, seconds=RAW_SECONDS)
    work.raw_at = time.perf_counter()


def _has_one_rate(session: Session) -> bool:
    """Return whether the rate of the network alone is that of one network on this machine."""
    return not session.game.sizes and work_of(session).machines is None


def _play(stage: Stage, missing: list[int], version: int, fit: Fit | None) -> bool:
    """Play games and store them as they end; return False when `stop` ended it early. `fit` is shown."""
    s, source, episodes = stage.session, source_of(stage.session), stage.session.config.episodes
    fresh: list[GameRecord] = []
    committed, done = 0.0, episodes - len(missing)
    before, earlier = source.pool.counts(), _evaluated(stage)
    with stage.progress("self-play", episodes, done) as phase:
        for record in _games_of_parts(s, missing, version, stage.stop):
            fresh.append(record)
            done += 1
            seconds = stage.seconds
            made = source.pool.counts().evaluations - before.evaluations
            if seconds - committed > COMMIT_SECONDS:
                _keep(stage, fresh, version, earlier + made)
                fresh, committed = [], seconds
            evaluations = made / seconds
            phase.update(
                done, **_roles(version, fit), games_per_s=(done + len(missing) - episodes) / seconds,
                evals_per_s=evaluations, **_share(evaluations, s, "share_of_raw", recent=True),
            )  # fmt: skip
    _keep(stage, fresh, version, earlier + source.pool.counts().evaluations - before.evaluations)
    return done == episodes


def _roles(version: int, fit: Fit | None) -> dict[str, str]:
    """Return which version plays and which is learned meanwhile, for people; {} if none is."""
    if fit is None:
        return {}
    return {"plays": f"version {version}", "learns": f"version {fit.version} ({fit.done}/{fit.steps})"}


def _games_of_parts(
    session: Session, missing: list[int], version: int, stop: Callable[[], bool]
) -> Iterator[GameRecord]:
    """Play games and yield each when it ends; in a run of several sizes, the games of one after those of another."""
    for board, mine in parts_of(session, missing):
        if stop():
            return
        spec = source_of(session).spec(version, board)
        games = longest_first(session.config, spec.run, spec.iteration, mine)
        for record in source_of(session).pool.play(spec, games, stop=stop):
            yield record._replace(board=board)


def _evaluated(stage: Stage) -> int:
    """Return the evaluations of the iteration's self-play up to its games on disk, whoever played them."""
    number, _, count = (stage.session.store.get("evaluated") or "").partition(" ")
    return int(count) if number == str(stage.iteration) else 0


def _keep(stage: Stage, records: list[GameRecord], version: int, evaluated: int) -> None:
    """Write games to disk, with the iteration's evaluations so far, then put them into stmemory."""
    with stage.part("game"):
        source_of(stage.session).declare()
        stage.session.store.add_games(stage.iteration, version, records)
        stage.session.store.put("evaluated", f"{stage.iteration} {evaluated}")
    for record in records:
        stage.session.memory.commit_stmemory(record)


def _remember(session: Session) -> list[GameRecord]:
    """Move the iteration's games from stmemory to ltmemory, each once, with lag 1 only out of stmemory; return them."""
    memory, records = session.memory, list(session.memory.stmemory)
    if not session.config.lag and memory.until < session.iteration:
        memory.commit_ltmemory()
        memory.until = session.iteration
    memory.clear_stmemory()
    return records


def _selfplay_facts(records: list[GameRecord]) -> dict[str, Any]:
    """Return statistics of an iteration's games."""
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


def _share(evaluations: float, session: Session, name: str, *, recent: bool = False) -> dict[str, float]:
    """Return {name: evaluations/s as a share of the network's own rate}, {} if that rate says nothing.

    Above 1 the machine was busier when the network was measured alone. recent: {} a minute after that, too.
    """
    if not _has_one_rate(session):
        return {}
    work = work_of(session)
    old = recent and time.perf_counter() - work.raw_at > 60.0
    share = evaluations / work.raw_rate
    return {} if old or share > 1.0 else {name: share}


def _rates(before: Counts, after: Counts, seconds: float) -> dict[str, float]:
    """Return the speeds of self-play between two counts."""
    work = {name: getattr(after, name) - getattr(before, name) for name in Counts._fields}
    return {
        "seconds": seconds,
        "evals_per_s": work["evaluations"] / seconds,
        "sims_per_s": work["simulations"] / seconds,
        "cache_hit_rate": work["found"] / max(work["looked_up"], 1),
        "mean_batch_fill": work["evaluations"] / max(work["batches"] * after.room, 1),
    }


# ---- retraining


def retrain(session: Session, stop: Callable[[], bool] = never, fit: Fit | None = None) -> None:
    """Train on batches of ltmemory and save the result as the next version; wait while there are too few positions.

    fit: the iteration's training, if another thread has begun it. Raises `Stopped` when `stop` ended it (that fit is
    dropped), and `Diverged` when the numbers are not finite, not even at half the learning rate.
    """
    s, stage = session, Stage(session, "retrain", stop)
    if stage.finished:
        return
    if facts := nothing_to_learn(s):
        stage.end(facts)
        reason = f"of {facts['waits_for']} positions" if "waits_for" in facts else "positions, none of them new"
        s.loggers.model.info("%d %s: no training", len(s.memory), reason)
        return
    with _restored_on_error(s):
        backend = _backend_of(s)
        losses, facts = _fit(stage, fit)
        with stage.ending(facts | lag_facts(s)):
            s.save_version(s.current_version + 1, stage.iteration, losses)
            s.store.put("steps", str(int(s.store.get("steps", "0") or 0) + facts["steps"]))
            s.store.put("backend", backend)
    drop_old_optimizers(s.store, s.current_version)
    rounded = {name: round(value, 5) for name, value in facts.items() if "loss" in name}
    s.loggers.model.info("version %d: %s", s.current_version, rounded)
    s.model.printWeightAverages(s.loggers.model.info)


def _backend_of(session: Session) -> str:
    """Return the back ends that will have trained the run, with the next version; say so when it is another one."""
    before, version, name = trained_by(session.store), session.current_version + 1, chosen_backend()
    if before and last_of(before) != name:
        change = f"version {version} is trained on {name}, those before on {last_of(before)}"
        session.warn(f"{change}: no longer the same to the last digit as on one back end", logging.INFO)
    return with_backend(before, name, version)


@contextmanager
def _restored_on_error(session: Session) -> Iterator[None]:
    """Restore the newest version's weights and optimizer when the block raises anything."""
    try:
        yield
    except Diverged:  # already restored
        raise
    except BaseException:
        with suppress(UserError):  # the first error is the one to report
            session.restore()
        raise


def _fit(stage: Stage, begun: Fit | None) -> tuple[dict[str, float], dict[str, Any]]:
    """Train, or wait for a training begun, and again at half the rate when the numbers are not finite.

    The numbers: losses, weights, and the new network's answers to the first batch. Returns (losses, facts).
    """
    s = stage.session

    def dropped(error: ArithmeticError) -> str:
        s.restore()
        message = f"{error}; version {s.current_version} stays as it is"
        s.loggers.model.info("%s", message)
        return message

    first, second = rate_shares(s)
    try:
        return _fit_once(stage, begun or Fit(s, first))
    except ArithmeticError as error:
        s.console.say(f"  {dropped(error)}: training again at half the learning rate")
    try:
        return _fit_once(stage, Fit(s, second))
    except ArithmeticError as error:
        forget_steps_back(s)
        rate = s.config.learning_rate
        raise Diverged(f"{dropped(error)}; resume with a smaller --learning-rate than {rate:g}") from None


def _fit_once(stage: Stage, fit: Fit) -> tuple[dict[str, float], dict[str, Any]]:
    """Train; raise `ArithmeticError` when the numbers are not finite."""
    s, size = stage.session, stage.session.config.batch_size

    def report(done: int) -> None:
        stage.check_stop()
        phase.update(done, positions_per_s=(done - before) * size / stage.seconds)

    before = fit.done
    with stage.progress("retraining", fit.steps, before) as phase:
        try:
            losses = fit.result(report)
            require_finite_answers(s, fit.sample(0).planes)
        except ArithmeticError as error:
            raise ArithmeticError(f"{error} (learning rate {max(fit.rates):g})") from None
    facts = {"steps": fit.steps, "seconds": fit.seconds, "positions_per_s": fit.steps * size / fit.seconds, **losses,
             "learning_rate": fit.rates[-1]}  # fmt: skip
    return losses, facts


# ---- the tournament


def play_tournament(session: Session, stop: Callable[[], bool] = never) -> None:
    """Let current play best, and promote it if it has proved better; raise `Stopped` when `stop` ended it.

    A tournament is due every `eval_every` iterations and in the last one, with `NO_TOURNAMENT` never. Whether this is
    the last depends on the seconds worked so far; what follows in the iteration does not change that.
    """
    s, c, stage = session, session.config, Stage(session, "tournament", stop)
    if stage.finished:
        return
    at = {"at_seconds": s.worked_seconds + spent(s)}
    last = c.eval_every < NO_TOURNAMENT and s.ends(stage.iteration, at["at_seconds"])
    due = last or stage.iteration % c.eval_every == 0
    current, best = s.current_version, s.best_version
    if not due or current == best:
        stage.end({"played": 0, **at})
        return
    with stepping_back(s):
        verdict = _tournament(stage, current, best)
    facts = {
        "played": verdict.score.games, "score": verdict.score.mean, "promoted": verdict.promoted,
        "words": verdict.words, "seconds": stage.seconds, **at,
    }  # fmt: skip
    with stage.ending(facts, point="promote"):
        if verdict.promoted:
            s.store.put("best", str(current))
    s.console.say(f"  version {current} against best version {best}: {verdict.words}")
    s.loggers.tourney.info("version %d against %d: %s", current, best, verdict.words)


def _tournament(stage: Stage, current: int, best: int) -> Verdict:
    """Play the missing games of the tournament, store them, and judge all of its games."""
    s, iteration = stage.session, stage.iteration

    def keep(games: list[MatchGame]) -> None:
        with stage.part("match"):
            for g in games:
                moves = " ".join(s.game.move_name(a) for a in g.moves)
                opening = " ".join(s.game.move_name(a) for a in g.opening)
                s.store.add_match(iteration, g.index, (current, best, opening, int(g.first_began), g.score, moves))
                s.loggers.tourney.info("game %d: score %g, %s", g.index, g.score, moves)
        stage.check_stop()

    known = s.store.match_scores(iteration)
    with stage.progress("tournament", s.config.eval_episodes, len(known)) as phase:
        return tournament(
            s.game, s.agent(current, name="current_player", role="current", log=True),
            s.agent(best, name="best_player", role="best", log=True), s.config.tournament,
            seed=s.config.seed * 1_000_003 + iteration, known=known, keep=keep,
            report=phase.update,
        )  # fmt: skip


# ---- the end of an iteration


def finish_iteration(session: Session) -> dict[str, Any]:
    """Close the iteration; return its line of metrics.jsonl."""
    s, stage, seconds = session, Stage(session, "iteration"), spent(session)
    evaluations = s.evaluations(stage.iteration)
    line = _metrics(stage, seconds)
    with stage.ending(line):
        s.store.put("seconds", str(s.worked_seconds + seconds))
        s.store.put("evaluations", str(evaluations))
        s.store.put("spent", "")
        s.take_settings()
        s.store.put("finished", "no" if s.is_unfinished() else "yes")
    s.store.checkpoint()
    s.write_metrics()
    width = s.console.width
    s.console.row(row(line, width), heading(width), LEGEND)
    if "retrain_waits_for" in line:
        s.console.say(f"  no training yet: it learns from {line['retrain_waits_for']:,} positions on")
    s.loggers.main.info("%s", sentence(line))
    return line


def _metrics(stage: Stage, seconds: float) -> dict[str, Any]:
    """Return the iteration's line of metrics.jsonl: the facts of all its stages."""
    s = stage.session
    line: dict[str, Any] = {
        "iteration": stage.iteration, "version": s.current_version, "best_version": s.best_version,
        "seconds": round(seconds, 3), "total_seconds": round(s.worked_seconds + seconds, 3),
    }  # fmt: skip
    for name, facts in stage.earlier.items():
        shown = {k: v for k, v in facts.items() if k != DATA}
        line |= {f"{name.replace('-', '_')}_{k}": round(v, 6) if isinstance(v, float) else v for k, v in shown.items()}
    return line
