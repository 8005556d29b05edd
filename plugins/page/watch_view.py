"""Watch it learn: one position as the versions of a run see it, milestones in words, and a version to play against.

The versions are evaluated alone, without search, as players are (`evaluation/milestones.py`): a few first, for the row
of boards, then the others.
"""

from __future__ import annotations

from contextvars import copy_context
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from nicegui import ui

from config import UserError
from evaluation.milestones import Probe, chosen_versions, in_words, milestones, network_of, probes, shares
from game import GameState
from interface.side_names import side_name
from languages.translate import tr
from plugins.page.charts import Point, curve_svg
from plugins.page.controls import icon_button
from plugins.page.machine_turns import searching
from plugins.page.run_reader import game_spec, readable, reading
from plugins.page.tab_language import in_background
from plugins.page.web_players import make_game
from plugins.pictures.board_svg import Mark, board_svg
from storage.game_files import PERSON

PACE = 0.7
"""Seconds from one version to the next while they play."""
BOARDS = 6
"""Boards in the row."""
KEPT = 400
"""Versions whose shares are kept."""
CLICK = '(e) => { const t = e.target.closest("[data-version]"); if (t) emit(t.dataset.version) }'
POSITIONS = {"start": "the start", "table": "the position on the board", "win": "a win in one",
             "stop": "a win in one to stop", "three": "a win in three"}  # fmt: skip
TEXTS = "the start", "the position on the board", "a win in one", "a win in one to stop", "a win in three"
_PROBES: dict[str, list[Probe]] = {}
_SHARES: dict[str, dict[str, float]] = {}
"""{digest of a version's file: its `shares`}"""


class Look(NamedTuple):
    """What a version thinks of a position."""

    value: float
    """For the player to move."""
    policy: dict[int, float]
    """{legal action: its probability}"""


class Watch:
    """The card; it belongs to the training view."""

    def __init__(self, roster: Any, play: Any, open_board: Any) -> None:
        self._roster, self._play, self._open_board = roster, play, open_board
        self._name, self._spec = "", ""
        self._folder: Path | None = None
        self._state: GameState | None = None
        self._versions: list[int] = []
        self._looks: dict[int, Look] = {}
        self._found: dict[int, dict[str, float]] = {}
        self._at = 0
        """Of `_versions`."""
        self._newest = -1
        self._job = 0
        """Counts runs and positions: what an older one finds is dropped."""

    def build(self) -> None:
        """Put the card where the page is being built."""
        with ui.element("section").classes("card watch"), ui.expansion(tr("Watch it learn")) as self._shelf:
            with ui.element("div").classes("stack"):
                with ui.element("div").classes("line-up"):
                    names = {key: tr(text) for key, text in POSITIONS.items()}
                    self._choice = ui.select(names, value="start", label=tr("position"))
                    self._choice.props("dense outlined options-dense").style("min-width: 220px")
                    self._choice.on_value_change(lambda _: self._begin())
                    self._words = ui.label().classes("soft grow").props('role="status"')
                self._row = ui.html("", sanitize=False).classes("versions")
                self._row.on("click", lambda e: self._go(e.args), js_handler=CLICK)
                with ui.element("div").classes("line-up"):
                    self._run = icon_button("", "play_arrow", self._toggle, tr("one version after the other, or pause"))
                    self._slider = ui.slider(min=0, max=1, step=1, value=0).classes("grow")
                    self._slider.props(f'aria-label="{tr("version")}"')
                    self._slider.on_value_change(lambda e: self._move(int(e.value)))
                with ui.element("div").classes("look"):
                    self._board = ui.html("", sanitize=False).classes("small-board")
                    with ui.element("div").classes("stack"):
                        self._told = ui.html("", sanitize=False)
                        self._against = ui.button("", icon="sports_esports", on_click=self._seat).props("outline dense")
                        self._curve = ui.html("", sanitize=False)
                ui.label(tr("Milestones")).classes("title")
                self._list = ui.html("", sanitize=False)
                self._list.on("click", lambda e: self._go(e.args), js_handler=CLICK)
                ui.label(tr("By the network alone, on positions made from the rules: right in more than nine of ten, "
                            "from that version on.")).classes("soft")  # fmt: skip
        self._shelf.props('header-class="title"')
        self._shelf.on_value_change(lambda e: self._begin() if e.value and not self._looks else self._pause())
        self._clock = ui.timer(PACE, self._next, active=False)

    # ---- what is looked at

    def choose(self, name: str, folder: Path | None) -> None:
        """Look at another run; name: as in `named_runs`."""
        if (name, folder) != (self._name, self._folder):
            self._name, self._folder, self._newest = name, folder, -1
            self._begin()

    def versions_changed(self, newest: int) -> None:
        """Look again when a run at work has many more versions: a fifth more than at the last look."""
        if self._newest >= 0 and newest > self._newest + max(self._newest // 5, 3):
            self._begin()

    def _begin(self) -> None:
        self._job += 1
        self._pause()
        self._looks, self._found = {}, {}
        if self._shelf.value and self._folder is not None:
            self._row.content = self._board.content = self._told.content = self._curve.content = self._list.content = ""
            self._words.text = tr("opening the versions ...")
            in_background(self._look(self._job, self._folder), "watch it learn")

    async def _look(self, job: int, folder: Path) -> None:
        """Let the versions look at the position: those of the row first."""
        try:
            self._spec = game_spec(folder, self._roster.named)
            game = make_game(self._spec)
            rows = _versions(folder)
            self._versions = chosen_versions(list(rows))
            self._newest = self._versions[-1] if self._versions else 0
            first = chosen_versions(self._versions, BOARDS)
            position = self._choice.value
            asked = await self._asked(game, position in ("win", "stop", "three"))
            state = self._state = self._position(position, asked)
            rest = [version for version in self._versions if version not in first]
            for version in [*first, None, *rest, *first]:
                if job != self._job:
                    return
                if version is None:
                    asked = await self._asked(game, True)
                    continue
                digest = rows[version]
                if version not in self._looks or (asked and digest not in _SHARES):
                    look = await searching(_opinion, folder, version, digest, game, state, asked)
                    if look is None or job != self._job:
                        return
                    self._looks[version] = look
                self._tell(version, digest)
            if job == self._job:
                self._words.text = how_many(len(self._versions))
        except UserError as error:
            if job == self._job:
                self._words.text = str(error).splitlines()[0]

    async def _asked(self, game: Any, needed: bool) -> list[Probe]:
        """Return the probes of the game, made once; [] if they are not there and not needed yet."""
        if needed and game.spec not in _PROBES:
            self._words.text = tr("making positions to ask about ...")
            made = await searching(copy_context().run, probes, make_game(game.spec))
            if made is not None:
                _PROBES[game.spec] = made
        return _PROBES.get(game.spec, [])

    def _tell(self, version: int, digest: str) -> None:
        """Show what a version has found."""
        if digest in _SHARES:
            self._found[version] = _SHARES[digest]
        self._words.text = tr("version {number} of {count} ...", number=version, count=self._versions[-1])
        self._show()

    def _position(self, choice: str, asked: list[Probe]) -> GameState:
        """Return the chosen position; the start where there is no such one."""
        table = self._play.table
        if choice == "table" and table.game.spec == self._spec and not table.state.isEndGame:
            return table.state
        found = [probe.positions[0].state for probe in asked if probe.kind == choice]
        return found[0] if found else make_game(self._spec).start()

    # ---- what is shown

    def _show(self) -> None:
        """Show all that is known so far."""
        seen = [version for version in self._versions if version in self._looks]
        self._slider.props(f"max={max(len(seen) - 1, 1)}")
        self._at = len(seen) - 1 if self._slider.value >= self._at else min(self._slider.value, len(seen) - 1)
        if self._slider.value != self._at:
            self._slider.value = self._at
        else:
            self._draw()

    def _seen(self) -> list[int]:
        return [version for version in self._versions if version in self._looks]

    def _draw(self) -> None:
        """Show the version at the slider, and the row and curve with it marked."""
        seen, state = self._seen(), self._state
        if not seen or state is None:
            return
        here = seen[min(self._at, len(seen) - 1)]
        look, newest = self._looks[here], self._looks[seen[-1]]
        self._board.content = board_svg(state, overlay=marks_of(look))
        self._told.content = look_html(state, here, look)
        self._against.text = tr("Play version {number}", number=here)
        self._row.content = row_html(state, {v: self._looks[v] for v in chosen_versions(seen, BOARDS)}, here)
        liked = max(newest.policy, key=lambda action: newest.policy[action])
        name = state.game.move_name(liked)  # type: ignore[attr-defined]
        lines = {
            tr("value"): [Point(v, self._looks[v].value) for v in seen],
            tr("policy: {move}", move=name): [Point(v, self._looks[v].policy[liked]) for v in seen],
        }  # fmt: skip
        title = tr("The position, version by version")
        self._curve.content = curve_svg(title, lines, low=-1.0, high=1.0, over="version", here=here)
        self._list.content = milestones_html(self._found)

    def _move(self, at: int) -> None:
        if at < len(self._seen()):
            self._at = at
            self._draw()

    def _go(self, version: Any) -> None:
        """Go to a version."""
        seen = self._seen()
        if str(version) in (names := [str(each) for each in seen]):
            self._slider.value = names.index(str(version))

    def _next(self) -> None:
        if self._at + 1 < len(self._seen()):
            self._slider.value = self._at + 1
        else:
            self._pause()

    def _toggle(self) -> None:
        if self._clock.active:
            self._pause()
            return
        if self._at + 1 >= len(self._seen()):
            self._slider.value = 0
        self._clock.activate()
        self._run.props("icon=pause")

    def _pause(self) -> None:
        self._clock.deactivate()
        self._run.props("icon=play_arrow")

    def _seat(self) -> None:
        """Seat a person against the version, in a new game, and open the board."""
        seen = self._seen()
        if not seen:
            return
        table, version = self._play.table, seen[min(self._at, len(seen) - 1)]
        owner, _, run = self._name.rpartition("/")
        ships = "shipped/" if owner.startswith("shipped/") else ""
        if table.game.spec != self._spec:
            table.change_game(self._spec)
        self._play.new()
        person = -1 if table.seats[-1] == PERSON != table.seats[1] else 1
        table.seats = {person: PERSON, -person: f"{ships}{run}:version{version:04}"}
        self._play.opponents.fits = False
        self._play.set_mode("play")
        self._play.refresh_players()
        self._play.changed()
        self._open_board()


def how_many(versions: int) -> str:
    """Return how many versions look at the position; runs that ship have one."""
    return tr("1 version; runs that you train keep more") if versions == 1 else tr("{count} versions", count=versions)


def _versions(folder: Path) -> dict[int, str]:
    """Return {version: digest of its file} of a run."""
    with reading(folder) as store:
        return {row.version: row.sha256 for row in store.versions()}


def _opinion(folder: Path, version: int, digest: str, game: Any, state: GameState, asked: list[Probe]) -> Look:
    """Return what a version thinks of a position; its shares of the probes are kept."""
    with readable(folder):
        agent = network_of(folder, version, game)
    value, policy, legal = agent.get_preds(state)
    if asked and digest not in _SHARES:
        while len(_SHARES) >= KEPT:
            _SHARES.pop(next(iter(_SHARES)))
        _SHARES[digest] = shares(agent, asked)
    return Look(value, {int(action): float(policy[action]) for action in legal})


def marks_of(look: Look) -> dict[int, Mark]:
    """Return a policy as an overlay of the board."""
    most = max(look.policy.values(), default=0.0) or 1.0
    return {a: Mark(p / most, f"{100 * p:.0f}") for a, p in look.policy.items() if round(100 * p) >= 1}


def row_html(state: GameState, looks: dict[int, Look], here: int) -> str:
    """Return a small board for each version, to click on; `here` is marked."""
    parts = []
    for version, look in looks.items():
        pressed = "true" if version == here else "false"
        name = tr("version {number}", number=version)
        parts.append(
            f'<button type="button" data-version="{version}" aria-pressed="{pressed}" aria-label="{escape(name)}">'
            f"{board_svg(state, overlay=marks_of(look))}<span>{version}</span><b>{look.value:+.2f}</b></button>"
        )
    return "".join(parts)


def look_html(state: GameState, version: int, look: Look) -> str:
    """Return a version's value of a position and its five most probable moves."""
    game: Any = state.game  # type: ignore[attr-defined]
    liked = sorted(look.policy, key=lambda action: -look.policy[action])[:5]
    rows = "".join(
        f'<tr><td>{escape(game.move_name(action))}</td><td><span class="share" style="width:'
        f'{120 * look.policy[action]:.0f}px"></span>{100 * look.policy[action]:.0f} %</td></tr>' for action in liked
    )
    side = side_name(game, state.playerTurn)
    value = tr("value for {side} {value}", side=side, value=f"{look.value:+.2f}")
    return (
        f'<div class="title version-here">{escape(tr("version {number}", number=version))}</div>'
        f'<div>{escape(value)}</div><table class="found liked">{rows}</table>'
    )


def milestones_html(found: dict[int, dict[str, float]]) -> str:
    """Return the milestones that were reached so far, a button each."""
    if not found:
        return ""
    first = min(found)
    parts = [
        f'<li><button type="button" data-version="{m.version}">{escape(in_words(m, first))}</button></li>'
        for m in milestones(found)
    ]
    none = f'<div class="soft">{escape(tr("none yet"))}</div>'
    return f'<ol class="milestones">{"".join(parts)}</ol>' if parts else none
