"""What is trained now, by this page or by others, apart from the run that is displayed; and the start of a new run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from nicegui import ui

from config import UserError
from games.titles import titled
from languages.translate import tr
from loggers import clock
from plugins.page.controls import icon_button
from plugins.page.run_reader import Standing, owner, settings, standing
from plugins.page.web_players import SHIPS
from training.presets import PRESETS, preset_for

SHORTEST = 1
"""Minutes of the shortest time limit."""
STAGES = {"self-play": "self-play", "retrain": "retraining", "tournament": "tournament", "score": "scoreboard"}
TEXTS = (
    "self-play", "retraining", "tournament", "scoreboard", "suits the game and this processor",
    "the smallest: minutes of learning", "the article's settings, slow", "a larger network, for a GPU",
)  # fmt: skip
WHAT = {"laptop": TEXTS[4], "tiny": TEXTS[5], "classic": TEXTS[6], "gpu": TEXTS[7]}
"""What a preset is."""


class Job(NamedTuple):
    """A run at work."""

    name: str
    spec: str
    """Its game."""
    now: Standing


class _Row(NamedTuple):
    """What is shown of a job."""

    element: Any
    words: Any
    bar: Any
    show: Any
    stop: Any


def jobs(folders: Mapping[str, Path]) -> list[Job]:
    """Return the runs that a process works on; one that cannot be read is left out."""
    found = []
    for name, folder in folders.items():
        if not name.startswith(SHIPS) and owner(folder) is not None:
            with suppress(UserError):
                job = Job(name, settings(folder).game, standing(folder))
                found += [job] * (job.now.process is not None)
    return found


class AtWork:
    """The two cards; they belong to the training view."""

    def __init__(self, trainer: Any, games: list[str], first: str, show: Callable[[str], None]) -> None:
        """show: displays the run of a name; games, first: those offered, and the one chosen."""
        self._trainer, self._games, self._first, self._show_run = trainer, games, first, show
        self._rows: dict[str, _Row] = {}
        """By game: the page trains a game once at a time; runs of others by name."""
        self._names: dict[str, str] = {}
        """The run of each row."""
        self._stopping: set[int] = set()
        """Processes that were requested to end."""
        self._begun = self._refused = ""
        """Games: whose training was last started from here; whose start was refused because it is being trained."""

    def build(self) -> None:
        """Put the cards where the page is being built."""
        with ui.element("section").classes("card stack at-work"):
            ui.label(tr("Running now")).classes("title")
            self._list = ui.element("div").classes("stack")
            self._none = ui.label(tr("Nothing is being trained.")).classes("soft")
        with ui.element("section").classes("card stack"):
            ui.label(tr("Start a run")).classes("title")
            with ui.element("div").classes("line-up"):
                self._game = ui.select(titled(self._games), value=self._first, label=tr("game"))
                self._game.props("dense outlined options-dense").classes("grow")
                self._game.on_value_change(lambda e: self._fit(e.value))
            with ui.element("div").classes("line-up"):
                self._preset = ui.select(list(PRESETS), value=preset_for(self._first), label=tr("preset"))
                self._preset.props("dense outlined options-dense").classes("grow")
                self._preset.on_value_change(lambda _: self._explain())
                self._minutes = ui.number(tr("minutes at most"), min=SHORTEST, step=1, format="%g")
                self._minutes.props(f'dense outlined placeholder="{tr("no limit")}" stack-label').classes("grow")
                icon_button(tr("Start"), "school", self._begin, tr("start a new run"))
            self._what = ui.label().classes("soft")
            self._note = ui.label().classes("note").props('role="status"')
        self._explain()

    def _fit(self, game: str) -> None:
        """Choose the preset that suits a game."""
        self._preset.value = preset_for(game)

    def _explain(self) -> None:
        self._what.text = tr(WHAT[self._preset.value])

    # ---- what is done

    def _begin(self) -> None:
        arguments, minutes = ["--new", "--preset", self._preset.value], self._minutes.value
        if minutes is not None and minutes < SHORTEST:
            self._note.text = tr("A limit is at least {count} minute.", count=SHORTEST)
            return
        self.start(lambda: self._game.value, [*arguments, *(["--minutes", f"{minutes:g}"] if minutes else [])])

    def start(self, spec: Callable[[], str], arguments: list[str]) -> None:
        """Start training, or show why it is impossible; spec: returns the game, or raises `UserError`."""
        self._note.text = self._begun = self._refused = ""
        try:
            self._begun = spec()
            self._trainer.start(self._begun, arguments)
        except UserError as error:
            self._note.text = str(error).splitlines()[0]
            self._refused = self._begun
        else:
            self._tell(self._begun, self._starting(self._begun), None, mine=True)
            self._none.visible = False

    def busy(self, spec: str) -> bool:
        """Return whether the page trains a game."""
        return bool(self._trainer.running(spec))

    def _stop(self, spec: str) -> None:
        self._stopping |= {self._trainer.process(spec) or 0}
        self._trainer.stop(spec)
        self._rows[spec].words.text = self._ending()

    def _starting(self, spec: str) -> str:
        return tr("{game}: starting ...", game=spec)

    def _ending(self) -> str:
        return tr("stopping at the next commit ... (press again to stop at once)")

    # ---- what is shown

    def show(self, found: list[Job]) -> None:
        """Show the runs at work: those found, and those of the page that have not reached their run yet."""
        if self._refused and not self._trainer.running(self._refused):
            self._note.text = self._refused = ""
        self._note.text = self._trainer.error(self._begun) or self._note.text
        shown = set()
        for spec in self._trainer.at_work():
            job = next((j for j in found if j.now.process == self._trainer.process(spec)), None)
            shown.add(spec)
            self._tell(spec, self._starting(spec), job, mine=True)
        for job in found:
            if job.now.process != self._trainer.process(job.spec):
                shown.add(job.name)
                self._tell(job.name, "", job, mine=False)
        for key in self._rows.keys() - shown:
            self._rows.pop(key).element.delete()
        self._none.visible = not self._rows

    def _tell(self, key: str, words: str, job: Job | None, *, mine: bool) -> None:
        row = self._rows.get(key) or self._rows.setdefault(key, self._new_row(key))
        if mine and self._trainer.process(key) in self._stopping:
            row.words.text = self._ending()
        else:
            row.words.text = words if job is None else f"{job.name}: {words_of(job.now, mine)}"
        share = job.now.share if job is not None else None
        row.bar.value = share if share is not None else 1.0
        row.bar.props.set_bool("indeterminate", share is None)
        row.stop.visible, row.show.visible = mine, job is not None
        self._names[key] = job.name if job is not None else ""

    def _new_row(self, key: str) -> _Row:
        with self._list, ui.element("div").classes("job") as element:
            words = ui.label().classes("status").props('role="status"')
            bar = ui.linear_progress(value=0, show_value=False, size="6px").props("rounded")
            with ui.element("div").classes("line-up"):
                tip = tr("show this run")
                show = icon_button(tr("Show"), "visibility", lambda: self._show_run(self._names[key]), tip)
                tip = tr("end at the next commit; nothing is lost")
                stop = icon_button(tr("Stop"), "stop", lambda: self._stop(key), tip)
        return _Row(element, words, bar, show, stop)


def words_of(now: Standing, mine: bool) -> str:
    """Return the state of a run, in words."""
    if now.finished:
        return tr("finished after {count} iterations", count=now.iteration - 1)
    if now.process is None:
        return tr("waiting, {count} iterations done", count=now.iteration - 1)
    text = tr("iteration {number}: {stage}", number=now.iteration, stage=tr(STAGES.get(now.stage, now.stage)))
    text += f" {100 * now.share:.0f} %" if now.share is not None else ""
    text += tr(", about {time} to go", time=clock(now.seconds_left)) if now.seconds_left is not None else ""
    return text if mine else text + tr(" (process {number}, not of this page)", number=now.process)
