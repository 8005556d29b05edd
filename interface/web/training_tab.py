"""The training view: start, stop and resume training; phase, curves, the newest game, the log; compare runs."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from nicegui import context, run, ui

from config import UserError
from interface.board_svg import board_svg
from interface.metric_lines import searched_sims
from interface.web.charts import Point, curve_svg
from interface.web.controls import icon_button
from interface.web.run_reader import (
    Standing,
    game_spec,
    kept_points,
    log_tail,
    metrics,
    newest_game,
    readable,
    series,
    settings,
    standing,
    strength_points,
)
from interface.web.table import outcome
from interface.web.web_players import SHIPS, named_runs
from loggers import clock
from training.presets import PRESETS

FAULTS = ValueError, TypeError, LookupError, ArithmeticError, AttributeError
"""Errors that lines no run wrote may raise; numpy's LinAlgError is a ValueError."""
EVERY = 1.5
"""Seconds from one reading of the files to the next."""
STOPPING = "stopping at the next commit ... (press again to stop at once)"
MINUTES = {"": "as the preset", "5": "5 minutes", "15": "15 minutes", "60": "1 hour", "480": "8 hours"}
CURVES = (
    ("Strength", "elo", 1.0, "Elo"),
    ("Game value kept by the network alone", "score_kept_alone", 1.0, "% of positions"),
    ("Game value kept with search", "score_kept", 1.0, "% of positions"),
    ("Score against the best", "tournament_score", 100.0, "% of points"),
    ("Policy loss", "retrain_policy_loss", 1.0, ""), ("Value loss", "retrain_value_loss", 1.0, ""),
    ("Length of self-play games", "self_play_plies", 1.0, "moves"),
    ("First player's wins", "self_play_first_wins", 100.0, "% of games"),
    ("Draws", "self_play_draws", 100.0, "% of games"),
    ("Positions in memory", "self_play_memory", 1.0, "positions"),
    ("Evaluations", "self_play_evals_per_s", 1.0, "a second"),
    ("Training", "retrain_positions_per_s", 1.0, "positions a second"),
)  # fmt: skip


class Learn:
    """The view of one tab."""

    def __init__(self, place: Any) -> None:
        self._trainer, self._roster, self._first_game = place.trainer(), place.roster(), place.spec
        self.visible, self._client = True, context.client
        self._folders: dict[str, Path] = {}
        self._drawn: tuple[Any, ...] = ()
        self._moving: Any = None
        self._ply = 0
        self._newest: tuple[Path, int] | None = None
        """(run, number of games in it) of the game that is shown."""
        self._begun = ""
        """The game whose training was last started from here."""
        self._stopping: set[int] = set()
        """Processes that were requested to end."""
        self._started = 0
        """The process that was last started from here."""
        self._at: dict[int, Path] = {}
        """The run at which each process of the page was seen."""
        self._refused = 0
        """The process because of which a start was refused; the message stays until that process is seen at a run or
        has ended."""
        self._reading = False
        self._build()
        self._list_runs()
        ui.timer(EVERY, self._refresh)
        ui.timer(0.5, self._step)

    def _build(self) -> None:
        with ui.element("div").classes("sheet learn"):
            with ui.element("div").classes("stack"):
                with ui.element("div").classes("card stack"):
                    with ui.element("div").classes("line-up"):
                        self._run = ui.select([], label="run", on_change=lambda _: self._chosen())
                        self._run.props("dense outlined options-dense").style("min-width: 220px")
                        self._compare = ui.select([], label="compare with", multiple=True, value=[])
                        self._compare.props("dense outlined options-dense use-chips").style("min-width: 200px")
                        self._compare.on_value_change(lambda _: self._chosen())
                        self._resume = icon_button("Go on", "play_arrow", self._go_on, "go on with this run")
                        self._halt = icon_button("Stop", "stop", self._stop, "end at the next commit; nothing is lost")
                    self._words = ui.label().classes("status").props('role="status"')
                    self._bar = ui.linear_progress(value=0, show_value=False, size="6px").props("rounded")
                    self._facts = ui.html("", sanitize=False)
                self._charts = ui.html("", sanitize=False).classes("curves")
            with ui.element("div").classes("stack"):
                with ui.element("div").classes("card stack"):
                    ui.label("Start a run").style("font-weight: 600")
                    self._new()
                with ui.element("div").classes("card stack"):
                    ui.label("The newest self-play game").style("font-weight: 600")
                    with ui.element("div").classes("stand"):
                        self._board = ui.html("", sanitize=False).classes("small-board")
                    self._game_words = ui.label().classes("soft").style("text-align: center")
                with ui.element("div").classes("card stack"):
                    ui.label("Log").style("font-weight: 600")
                    self._log = ui.html("", sanitize=False)

    def _new(self) -> None:
        with ui.element("div").classes("line-up"):
            self._game = ui.select(self._roster.games(), value=self._first_game, label="game")
            self._game.props("dense outlined options-dense").classes("grow")
        with ui.element("div").classes("line-up"):
            self._preset = ui.select(list(PRESETS), value="laptop", label="preset")
            self._preset.props("dense outlined options-dense").classes("grow")
            self._minutes = ui.select(MINUTES, value="", label="at most")
            self._minutes.props("dense outlined options-dense").classes("grow")
            icon_button("Start", "school", self._start, "start a new run")
        self._note = ui.label().classes("note")

    # ---- runs

    def _list_runs(self) -> None:
        folders = named_runs()
        if list(folders) == list(self._folders):
            return
        fresh = [name for name in folders if name not in self._folders] if self._folders else []
        self._folders = folders
        names = list(folders)
        here = fresh[0] if fresh else self._run.value if self._run.value in names else names[0] if names else None
        self._run.set_options(names, value=here)
        self._compare.set_options(names, value=[n for n in self._compare.value if n in names])

    def _chosen(self) -> None:
        self._drawn, self._newest = (), None

    def _folder(self) -> Path | None:
        return self._folders.get(self._run.value or "")

    def _shipped(self) -> bool:
        """Whether the chosen run came with the program: it cannot be resumed."""
        return (self._run.value or "").startswith(SHIPS)

    def _start(self) -> None:
        arguments = ["--new", "--preset", self._preset.value]
        if self._minutes.value:
            arguments += ["--minutes", self._minutes.value]
        self._work(lambda: self._game.value, arguments)

    def _go_on(self) -> None:
        folder = self._folder()
        if folder is not None and not self._shipped():
            self._work(lambda: game_spec(folder, self._roster.named), ["--run", str(int(folder.name[3:]))])

    def _work(self, spec: Callable[[], str], arguments: list[str]) -> None:
        self._note.text = self._begun = ""
        self._refused = 0
        try:
            self._begun = spec()
            self._trainer.start(self._begun, arguments)
        except UserError as error:
            self._note.text = str(error).splitlines()[0]
            self._refused = self._trainer.process(self._begun) or 0
        else:
            self._started = self._trainer.process(self._begun) or 0
            self._words.text = "starting ..."

    def _stop(self) -> None:
        folder = self._folder()
        try:
            spec = self._begun if self._not_seen() or folder is None else settings(folder).game
            self._stopping |= {self._trainer.process(spec) or 0}
            self._trainer.stop(spec)
            self._words.text = STOPPING
        except UserError as error:
            self._words.text = str(error)

    def _not_seen(self) -> int:
        """Return the process that was last started from here while it is at no run yet; 0 if there is none."""
        lives = self._started == self._trainer.process(self._begun)
        return self._started if lives and self._started not in self._at else 0

    # ---- what is read

    def _watched(self) -> bool:
        """Whether this view is the one shown, in a tab that can be reached."""
        return self.visible and self._client.has_socket_connection

    async def _refresh(self) -> None:
        """Read the files in a thread and show what changed."""
        if not self._watched() or self._reading:
            return
        self._reading = True
        try:
            self._list_runs()
            if self._refused and (self._refused in self._at or self._refused != self._trainer.process(self._begun)):
                self._note.text, self._refused = "", 0
            self._note.text = self._trainer.error(self._begun) or self._note.text
            folder = self._folder()
            if folder is None:
                self._words.text = self._beginning() or "There is no run yet."
                self._resume.visible = self._bar.visible = False
                self._halt.visible = bool(self._not_seen())
                return
            chosen = [self._run.value, *self._compare.value]
            compared = {name: self._folders[name] for name in chosen if name in self._folders}
            found = await run.io_bound(read_all, folder, compared, self._drawn)
            if found is not None:  # it is None when the program ends
                self._show(folder, *found)
        except UserError as error:
            self._words.text = str(error).splitlines()[0]
        finally:
            self._reading = False

    def _show(self, folder: Path, now: Standing, drawn: tuple[Any, ...], charts: str | None, log: str) -> None:
        spec = settings(folder).game
        process = self._trainer.process(spec) or 0
        if process and now.process == process:
            self._at[process] = folder
        mine = bool(process) and self._at.get(process) == folder  # until it has ended and released the run
        self._words.text = words_of(now, mine) if not self._shipped() else shipped_words(now)
        if mine and process in self._stopping:
            self._words.text = STOPPING
        self._words.text = self._beginning() or self._words.text
        busy = now.process is not None or bool(process)
        self._resume.visible = not (busy or now.finished or self._shipped())
        self._halt.visible = mine or bool(self._not_seen())
        self._bar.visible = now.process is not None
        self._bar.value = now.share if now.share is not None else 1.0
        self._bar.props.set_bool("indeterminate", now.share is None)
        self._facts.content = facts_html(now)
        if charts is not None:
            self._charts.content, self._drawn = charts, drawn
        text = f'<pre class="log">{escape(log)}</pre>' if log else '<div class="soft">nothing yet</div>'
        if text != self._log.content:
            self._log.content = text
            ui.run_javascript("for (const e of document.querySelectorAll('.log')) e.scrollTop = e.scrollHeight")
        ended = self._moving is None or self._ply >= len(self._moving.record.moves)
        if self._newest is None or self._newest[0] != folder or (ended and self._newest[1] != now.games):
            self._newest, self._moving, self._ply = (folder, now.games), None, 0
            try:
                self._moving = newest_game(folder, named=self._roster.named)
                self._draw()
            except UserError as error:
                self._board.content, self._game_words.text = "", str(error)

    def _beginning(self) -> str:
        """Return the message while a run that was started is not at work yet."""
        process = self._not_seen()
        return "" if not process else STOPPING if process in self._stopping else "starting ..."

    # ---- the newest game

    def _step(self) -> None:
        """Play the newest game move by move; at its end wait a little, then begin again."""
        if self._watched() and self._moving is not None:
            count = len(self._moving.record.moves)
            self._ply = self._ply + 1 if self._ply < count + 5 else 0
            if self._ply <= count:
                self._draw()

    def _draw(self) -> None:
        if self._moving is None:
            self._board.content, self._game_words.text = "", "none yet"
            return
        record = self._moving.record
        state = record.game.start()
        for action in record.moves[: self._ply]:
            state = state.takeAction(action)[0]
        self._board.content = board_svg(state, moves=record.moves[: self._ply])
        value = self._moving.values.get(self._ply)
        words = f", value for the player who began {value:+.2f}" if value is not None else ""
        if state.isEndGame:
            words = f": {outcome(record.game, record.result or 0.0)}"
        self._game_words.text = f"{', '.join(record.players)}: move {self._ply} of {len(record.moves)}{words}"


def read_all(
    folder: Path, compared: dict[str, Path], drawn: tuple[Any, ...]
) -> tuple[Standing, tuple[Any, ...], str | None, str]:
    """Return (state, data of the curves, the curves or None if that data is already drawn, the log's end)."""
    with readable(folder, *FAULTS):
        lines = {name: metrics(f) for name, f in compared.items()}
        key = tuple((name, len(found)) for name, found in lines.items())
        charts = None if key == drawn else _all_charts(lines)
    return standing(folder), key, charts, log_tail(folder)


def _all_charts(lines: dict[str, list[dict[str, Any]]]) -> str:
    """Return the curves of the runs whose lines can be drawn, and the names of the others."""
    try:
        return charts_html(lines)
    except FAULTS:
        drawable = {name: found for name, found in lines.items() if _can_be_drawn(found)}
    left = "".join(
        f'<div class="note">{escape(name)}: its metrics.jsonl cannot be drawn</div>' for name in lines.keys() - drawable
    )
    return left + charts_html(drawable)


def _can_be_drawn(found: list[dict[str, Any]]) -> bool:
    try:
        charts_html({"": found})
    except FAULTS:
        return False
    return True


def charts_html(lines: dict[str, list[dict[str, Any]]]) -> str:
    """Return all curves, {name of a run: its metrics}, a line for each run; with the scoreboard if there is one."""
    parts = []
    for title, key, factor, unit in CURVES:
        shown: dict[str, list[Point]] = {}
        for run_name, found in lines.items():
            points, more = points_of(found, key, factor)
            name = f"{run_name}{f' ({more})' if more else ''}" if len(lines) > 1 else ""
            unit = f"{unit}, {more}" if more and len(lines) == 1 else unit
            shown[name] = points
        if key.startswith("score_") and not any(shown.values()):
            continue
        high = 100.0 if unit.startswith("%") else None
        low = None if key == "elo" or key.startswith("score_") else 0.0
        svg = curve_svg(title, shown, unit=unit, low=low, high=high)
        parts.append(f'<div class="card" data-curve="{key}">{svg}</div>')
    return f'<div class="charts">{"".join(parts)}</div>'


def points_of(lines: list[dict[str, Any]], key: str, factor: float) -> tuple[list[Point], str]:
    """Return (the points of a curve, notes on them)."""
    if key == "elo":
        points, zero = strength_points(lines)
        return points, f"{zero} = 0" if points else ""
    if key.startswith("score_kept"):
        sims = searched_sims(lines)
        return kept_points(lines, key), f"{sims} sims" if sims is not None and key == "score_kept" else ""
    return series(lines, key, factor=factor), ""


def words_of(now: Standing, mine: bool) -> str:
    """Return the state of a run, in words."""
    if now.finished:
        return f"finished after {now.iteration - 1} iterations"
    if now.process is None:
        return f"waiting, {now.iteration - 1} iterations done"
    stage = {"retrain": "retraining", "score": "scoreboard"}.get(now.stage, now.stage)
    share = f" {100 * now.share:.0f} %" if now.share is not None else ""
    left = f", about {clock(now.seconds_left)} to go" if now.seconds_left is not None else ""
    whose = "" if mine else f" (process {now.process}, not of this page)"
    return f"iteration {now.iteration}: {stage}{share}{left}{whose}"


def shipped_words(now: Standing) -> str:
    """Return a line about a run that ships."""
    return f"ships with the program, after {now.iteration - 1} iterations"


def facts_html(now: Standing) -> str:
    """Return a run's numbers."""
    facts = {
        "iterations done": now.iteration - 1, "games": f"{now.games:,}", "newest version": now.versions,
        "best version": now.best,
    }  # fmt: skip
    return '<div class="facts">' + "".join(f"<div><span>{k}</span>{v}</div>" for k, v in facts.items()) + "</div>"
