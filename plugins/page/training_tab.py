"""The training view: the run that is displayed, its curves next to other runs', what its versions know, its newest game
and log; and next to it what is trained now."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from nicegui import context, run, ui

from config import UserError
from interface.metric_lines import searched_sims
from languages.translate import tr
from plugins.page.at_work import AtWork, jobs, words_of
from plugins.page.charts import Point, curve_svg
from plugins.page.controls import icon_button
from plugins.page.run_reader import (
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
from plugins.page.tab_language import in_language
from plugins.page.table import outcome
from plugins.page.watch_view import Watch
from plugins.page.web_players import SHIPS, named_runs
from plugins.pictures.board_svg import board_svg

FAULTS = ValueError, TypeError, LookupError, ArithmeticError, AttributeError
"""Errors that lines no run wrote may raise; numpy's LinAlgError is a ValueError."""
EVERY = 1.5
"""Seconds from one reading of the files to the next."""
CURVES = (
    ("Strength", "elo", 1.0, "Elo"),
    ("Game value kept by the network alone", "score_kept_alone", 1.0, "% of positions"),
    ("Game value kept with search", "score_kept", 1.0, "% of positions"),
    ("Policy loss", "retrain_policy_loss", 1.0, ""), ("Value loss", "retrain_value_loss", 1.0, ""),
    ("Score against the best", "tournament_score", 100.0, "% of points"),
    ("Length of self-play games", "self_play_plies", 1.0, "moves"),
    ("First player's wins", "self_play_first_wins", 100.0, "% of games"),
    ("Draws", "self_play_draws", 100.0, "% of games"),
    ("Positions in memory", "self_play_memory", 1.0, "positions"),
    ("Evaluations", "self_play_evals_per_s", 1.0, "a second"),
    ("Training", "retrain_positions_per_s", 1.0, "positions a second"),
)  # fmt: skip
FOLDED = 5
"""The curves from this one on are folded."""
TEXTS = (
    "Strength", "Game value kept by the network alone", "Game value kept with search", "Policy loss", "Value loss",
    "Score against the best", "Length of self-play games", "First player's wins", "Draws", "Positions in memory",
    "Evaluations", "Training", "Elo", "% of positions", "% of points", "moves", "% of games", "positions", "a second",
    "positions a second",
)  # fmt: skip


class Learn:
    """The view of one tab."""

    def __init__(self, place: Any, play: Any, open_board: Callable[[], None]) -> None:
        """play: the view of the board, on which a version is played against; open_board: opens its tab."""
        self._roster, self._trainer = place.roster(), place.trainer()
        self.visible, self._client = True, context.client
        self._folders: dict[str, Path] = {}
        self._drawn: tuple[Any, ...] = ()
        self._moving: Any = None
        self._ply = 0
        self._newest: tuple[Path, int] | None = None
        """(run, number of games in it) of the game that is shown."""
        self._reading = False
        self._work = AtWork(self._trainer, self._roster.games(), place.spec, self._display)
        self._watch = Watch(self._roster, play, open_board)
        self._build()
        self._list_runs()
        ui.timer(EVERY, self._refresh)
        ui.timer(0.5, self._step)

    def _build(self) -> None:
        with ui.element("div").classes("sheet learn"):
            with ui.element("div").classes("stack"):
                with ui.element("section").classes("card stack displayed"):
                    with ui.element("div").classes("line-up"):
                        self._run = ui.select([], label=tr("run"), on_change=lambda _: self._chosen())
                        self._run.props("dense outlined options-dense").classes("grow").style("min-width: 200px")
                        self._compare = ui.select([], label=tr("compare with"), multiple=True, value=[])
                        self._compare.props("dense outlined options-dense use-chips").classes("grow")
                        self._compare.style("min-width: 180px").on_value_change(lambda _: self._chosen())
                        self._resume = icon_button(tr("Resume"), "play_arrow", self._go_on, tr("continue this run"))
                    self._words = ui.label().classes("status").props('role="status"')
                    self._facts = ui.html("", sanitize=False)
                self._charts = ui.html("", sanitize=False).classes("curves")
                self._more = ui.button(tr("More curves"), icon="expand_more", on_click=self._unfold)
                self._more.props('flat dense aria-expanded="false"').style("align-self: flex-start")
                self._watch.build()
            with ui.element("div").classes("stack"):
                self._work.build()
                with ui.element("section").classes("card stack"):
                    ui.label(tr("The newest self-play game")).classes("title")
                    with ui.element("div").classes("stand"):
                        self._board = ui.html("", sanitize=False).classes("small-board")
                    self._game_words = ui.label().classes("soft").style("text-align: center")
                with ui.element("section").classes("card"), ui.expansion(tr("Log")).props("dense"):
                    self._log = ui.html("", sanitize=False)

    def _unfold(self) -> None:
        """Show the curves that are folded, or fold them."""
        unfolded = "whole" in self._charts.classes
        self._charts.classes(add="" if unfolded else "whole", remove="whole" if unfolded else "")
        self._more.set_text(tr("More curves") if unfolded else tr("Fewer curves"))
        icon, now = ("expand_more", "false") if unfolded else ("expand_less", "true")
        self._more.props(f"icon={icon} aria-expanded={now}")

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
        self._chosen()

    def _display(self, name: str) -> None:
        """Display the run of a name."""
        if name in self._folders:
            self._run.value = name

    def _chosen(self) -> None:
        self._drawn, self._newest = (), None
        self._watch.choose(self._run.value or "", self._folder())

    def _folder(self) -> Path | None:
        return self._folders.get(self._run.value or "")

    def _shipped(self) -> bool:
        """Whether the chosen run came with the program: it cannot be resumed."""
        return (self._run.value or "").startswith(SHIPS)

    def _go_on(self) -> None:
        folder = self._folder()
        if folder is not None and not self._shipped():
            self._work.start(lambda: game_spec(folder, self._roster.named), ["--run", str(int(folder.name[3:]))])

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
            self._work.show(await run.io_bound(jobs, self._folders) or [])
            folder = self._folder()
            self._more.visible = folder is not None
            if folder is None:
                self._words.text = tr("There is no run yet.")
                self._resume.visible = False
                return
            chosen = [self._run.value, *self._compare.value]
            compared = {name: self._folders[name] for name in chosen if name in self._folders}
            found = await run.io_bound(in_language(read_all, folder, compared, self._drawn))
            if found is not None:  # it is None when the program ends
                self._show(folder, *found)
        except UserError as error:
            self._words.text = str(error).splitlines()[0]
        finally:
            self._reading = False

    def _show(self, folder: Path, now: Standing, drawn: tuple[Any, ...], charts: str | None, log: str) -> None:
        spec = settings(folder).game
        mine = now.process is not None and now.process == self._trainer.process(spec)
        self._words.text = shipped_words(now) if self._shipped() else words_of(now, mine)
        self._resume.visible = not (now.process or self._work.busy(spec) or now.finished or self._shipped())
        self._facts.content = facts_html(now, ships=self._shipped())
        if charts is not None:
            self._charts.content, self._drawn = charts, drawn
        self._watch.versions_changed(now.versions)
        empty = f'<div class="soft">{escape(tr("nothing yet"))}</div>'
        text = f'<pre class="log" tabindex="0">{escape(log)}</pre>' if log else empty
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
            none = tr("This run has no games.") if self._shipped() else tr("none yet")
            self._board.content, self._game_words.text = "", none
            return
        record = self._moving.record
        state = record.game.start()
        for action in record.moves[: self._ply]:
            state = state.takeAction(action)[0]
        self._board.content = board_svg(state, moves=record.moves[: self._ply])
        value = self._moving.values.get(self._ply)
        words = tr("move {ply} of {count}", ply=self._ply, count=len(record.moves))
        if state.isEndGame:
            words += f": {outcome(record.game, record.result or 0.0)}"
        elif value is not None:
            words += ", " + tr("value for the player who began {value}", value=f"{value:+.2f}")
        self._game_words.text = f"{', '.join(record.players)}: {words}"


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
    """Return all curves, {name of a run: its metrics}, a line for each run; with the scoreboard if there is one.

    The first is the largest; those after FOLDED are hidden until they are unfolded.
    """
    parts = []
    for number, (title, key, factor, unit) in enumerate(CURVES):
        unit = tr(unit) if unit else ""
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
        svg = curve_svg(tr(title), shown, unit=unit, low=low, high=high)
        kind = "card first" if number == 0 else "card" if number < FOLDED else "card more"
        parts.append(f'<div class="{kind}" data-curve="{key}">{svg}</div>')
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


def shipped_words(now: Standing) -> str:
    """Return a line about a run that ships."""
    return tr("ships with the program, after {count} iterations", count=now.iteration - 1)


def facts_html(now: Standing, *, ships: bool = False) -> str:
    """Return a run's numbers; ships: it came with the program, without the games that it played."""
    games = {} if ships and not now.games else {tr("games"): f"{now.games:,}"}
    facts = {
        tr("iterations done"): now.iteration - 1, **games, tr("newest version"): now.versions,
        tr("best version"): now.best,
    }  # fmt: skip
    return '<div class="facts">' + "".join(f"<div><span>{k}</span>{v}</div>" for k, v in facts.items()) + "</div>"
