"""The server and the frame of the page. The page answers at once; slow imports run after it is up."""

from __future__ import annotations

import asyncio
import logging
import secrets
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakSet

from config import UserError
from languages.translate import LANGUAGES, language, tr
from plugins.page.preparing import Preparations, first_board, ticking
from plugins.page.request_guard import Guard, allowed_names, has_token, names_of
from plugins.pictures import drawing_asset
from system.place import requirements
from system.processes import ENDINGS, heeded

HERE = Path(__file__).parent
VIEWS = "play", "puzzles", "games", "training"
TEXTS = "Play", "Puzzles", "Games", "Training"
"""Names of the views."""
OF_CLIENTS = ("aiohttp", "requests", "tornado", "websocket")
"""Packages that the socket library imports for its clients if installed: a third of the start, and this is a server."""
LOOPBACK = ("127.0.0.1", "localhost")
EVERYWHERE = "0.0.0.0"  # noqa: S104


def serve(
    *, host: str, port: int, spec: str, open_browser: bool, say: Callable[[str], None], allowed: Sequence[str] = ()
) -> None:
    """Serve the page until Ctrl-C, also under the names `allowed`; raise `UserError` if that is impossible."""
    in_front = set().union(*(allowed_names(place, port) for place in allowed))
    try:
        with hidden(*OF_CLIENTS):
            from nicegui import app, background_tasks, context, core, ui
    except ImportError:
        file = requirements("requirements-web.txt")
        raise UserError(f"serve: nicegui is not installed; `pip install -r {file}`") from None
    from plugins.page.connection_limits import (
        HEAD_BYTES,
        HEAD_SECONDS,
        STRANGERS,
        LimitedHTTP,
        Strangers,
        worth_a_line,
    )  # fmt: skip
    from plugins.page.tab_language import begin_tab, words_of_loss

    _check_port(host, port)
    token = secrets.token_urlsafe(24)
    names = {*LOOPBACK, socket.gethostname() if host == EVERYWHERE else host}
    hosts = set().union(*(names_of(name, port) for name in names))
    app.add_middleware(Guard, hosts=hosts, token=token, allowed=in_front, say=say)
    app.config.socket_io_js_query_params["token"] = token
    app.config.socket_io_js_transports = ["websocket"]
    core.sio.eio.cors_allowed_origins = []  # neither checks nor headers: the guard has checked the origin
    core.sio.eio.max_http_buffer_size = MESSAGE_BYTES
    styles = (HERE / "style.css").read_text(encoding="utf-8") + drawing_asset("board.css")
    scripts = drawing_asset("board.js") + (HERE / "play.js").read_text(encoding="utf-8")
    place = Shared(spec)

    @ui.page("/", title="AlphaZero", dark=None, reconnect_timeout=KEPT)
    def page() -> None:
        given = context.client.request.query_params
        begin_tab(given.get("language", ""))
        ui.add_head_html(f"<style>{styles}</style><script>{scripts}liveBoard(document);</script>")
        ui.add_head_html(f"<script>document.documentElement.lang = '{language()}'; {words_of_loss()}</script>")
        ui.add_head_html('<meta name="referrer" content="no-referrer">')
        _frame(place, given, given.get("view", "play"))

    reached = outward() if host == EVERYWHERE else host
    address = f"http://{reached}:{port}/?token={token}"
    others = "".join(f"also {place}/?token={token}\n" for place in allowed)
    door = doorway(address) if open_browser else None

    def close() -> None:
        if door is not None:
            door.unlink(missing_ok=True)
        place.close()

    ignored = set(ENDINGS) - set(heeded())

    def announce() -> None:
        for number in ignored:  # the server has taken them
            signal.signal(number, signal.SIG_IGN)
        core.sio.eio.ping_timeout = SILENT  # NiceGUI has set 4
        background_tasks.create(_announce(reached, port, address, others, door, say), name="announce")

    app.on_startup(announce)
    app.on_shutdown(close)
    logging.getLogger("nicegui").setLevel(logging.WARNING)
    logging.getLogger("uvicorn.error").addFilter(worth_a_line)
    ui.run(
        host=host, port=port, title="AlphaZero", show=False, reload=False, tailwind=False, dark=None,
        show_welcome_message=False, favicon=ICON, reconnect_timeout=10.0, uvicorn_logging_level="error",
        http=partial(LimitedHTTP, Strangers(partial(has_token, token=token)), HEAD_SECONDS),
        h11_max_incomplete_event_size=HEAD_BYTES, ws_max_size=MESSAGE_BYTES, backlog=STRANGERS,
        timeout_graceful_shutdown=CLOSING, loop="asyncio",  # uvloop takes the pipe of `stop_signals.end_in_time`
    )  # fmt: skip


async def _announce(
    host: str, port: int, address: str, others: str, door: Path | None, say: Callable[[str], None]
) -> None:
    """Say where the page is, and open it, as soon as the server answers: a browser that comes before finds nobody."""
    while not _listens(host, port):
        await asyncio.sleep(0.01)
    say(f"the page is at {address} (open it yourself if no browser opens)\n{others}Ctrl-C ends it")
    if door is not None:
        await asyncio.to_thread(webbrowser.open, door.as_uri())


KEPT = 900.0
"""Seconds for which a game waits for a browser that cannot be reached, such as a sleeping one."""
SILENT = 30.0
"""Seconds that this program may be silent, on a busy machine, before a browser connects again: a click that it sent
meanwhile is lost."""
MESSAGE_BYTES = 1_400_000
"""Largest message through the socket: the largest file of a game, in base64."""
EXCLUSIVE = getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR)
"""Option of a socket that takes a port which nobody has now: on Windows the usual one takes it from its owner."""
SCHEMES = {"dark": True, "light": False}
"""What the browser remembers of a choice; without one its system's holds. The cookie is lax: a strict one does not come
with the first request of a browser that the file of `doorway` leads here."""
TOGGLE = (
    '() => { const dark = !document.body.classList.contains("body--dark");'
    ' document.cookie = `scheme=${dark ? "dark" : "light"}; max-age=31536000; samesite=lax`; emit(dark) }'
)
CLOSING = 1
"""Seconds that requests in progress have to end when the server does."""
ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4470a5"/>'
    '<circle cx="11" cy="21" r="6" fill="#d8404f"/><circle cx="21" cy="11" r="6" fill="#f4c13d"/></svg>'
)


def outward() -> str:
    """Return this machine's address in its network, or the loopback address if it has none."""
    with socket.socket(type=socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address of no machine (RFC 5737), and nothing is sent
        except OSError:
            return LOOPBACK[0]
        return str(probe.getsockname()[0])


def doorway(address: str) -> Path:
    """Write a file, readable by its owner only, that redirects to an address: all users can see a command line."""
    handle, name = tempfile.mkstemp(prefix="alphazero-", suffix=".html")
    with open(handle, "w", encoding="utf-8") as file:
        file.write(f'<!DOCTYPE html><meta http-equiv="refresh" content="0; url={address}"><a href="{address}">Open</a>')
    return Path(name)


def _check_port(host: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, EXCLUSIVE, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as error:
            raise UserError(f"serve: cannot listen on {host}:{port} ({error}); --port chooses another") from None


def _listens(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex((host, port)) == 0


@contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Make imports of optional modules fail if they are not loaded yet."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            sys.modules.pop(name, None)


class Shared:
    """What all tabs share; made when the first one needs it."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.boards: WeakSet[Any] = WeakSet()
        """The views of the open tabs."""
        self.preparing = Preparations(spec)
        self._roster: Any = None
        self._trainer: Any = None

    def roster(self) -> Any:
        """Return the roster of players."""
        if self._roster is None:
            from plugins.page.web_players import Roster

            self._roster = Roster((self.spec,))
        return self._roster

    def trainer(self) -> Any:
        """Return the training runs that the page started."""
        if self._trainer is None:
            from plugins.page.training_process import Trainer

            self._trainer = Trainer()
        return self._trainer

    def close(self) -> None:
        """End all searches, and let training that the page started end cleanly, so that it can be resumed."""
        for board in self.boards:
            board.leave()
        self.preparing.close()
        if self._trainer is not None:
            self._trainer.stop_all()


def _load(place: Shared) -> None:
    """Import what the views need."""
    import plugins.page.games_tab
    import plugins.page.play_tab
    import plugins.page.puzzles_tab
    import plugins.page.training_tab  # noqa: F401

    place.roster()


def _frame(place: Shared, query: Mapping[str, str], view: str) -> None:
    """Show the bar at once and the views behind it as soon as what they need has been loaded."""
    from nicegui import ui

    tabs = _bar()
    body = ui.element("div").classes("views")
    with body:
        says = ui.label(tr("Loading the boards ...")).classes("soft").style("padding: 24px").props('role="status"')
        board = ui.html("", sanitize=False).classes("first-board")

    async def load() -> None:
        spec, show = query.get("game") or place.spec, partial(setattr, says, "text")
        try:
            with suppress(UserError):  # the board says what is wrong with such a game
                spec, drawn = await asyncio.to_thread(first_board, spec, typed=spec == place.spec)
                board.set_content(drawn)
                await place.preparing.wait(spec, show)
            await ticking(asyncio.to_thread(_load, place), show)
            body.clear()
            with body:
                _Views(place, query, tabs).show(view)
        except UserError as error:
            body.clear()
            with body:
                ui.label(str(error).splitlines()[0]).classes("note").style("padding: 24px")

    ui.timer(0.01, load, once=True)


def _bar() -> Any:
    """Show the name, the tabs and the switch between light and dark; return the tabs."""
    from nicegui import context, ui

    from plugins.page.shortcuts import build_shortcuts
    from plugins.page.tab_language import SWITCH

    dark = ui.dark_mode(SCHEMES.get(context.client.request.cookies.get("scheme", "")))

    def toggle(event: Any) -> None:
        dark.value = bool(event.args)

    with ui.element("header").classes("bar"):
        ui.html("AlphaZero", tag="h1", sanitize=False).classes("name")
        with ui.tabs().props("dense no-caps inline-label") as tabs:
            for name in VIEWS:
                ui.tab(name, tr(name.capitalize()))
        ui.element("div").classes("grow")
        other = next(name for name in LANGUAGES if name != language())
        ui.button(LANGUAGES[other]).props("flat dense").on("click", js_handler=SWITCH.format(other))
        build_shortcuts()
        sounds = ui.button().props(f'flat round dense aria-label="{tr("sounds")}" aria-pressed=false').classes("sounds")
        with sounds.on("click", js_handler="() => boardSounds.toggle()"):
            ui.icon("volume_off").classes("quiet")
            ui.icon("volume_up").classes("loud")
        button = ui.button(icon="contrast").props(f'flat round dense aria-label="{tr("light or dark")}"')
        button.on("click", toggle, js_handler=TOGGLE)
    return tabs


class _Views:
    """The views of a tab: the board at once, the others when they are first opened."""

    def __init__(self, place: Shared, query: Mapping[str, str], tabs: Any) -> None:
        from nicegui import ui

        from plugins.page.play_tab import Play
        from plugins.page.teacher_panel import Teaching

        self._place, self._tabs = place, tabs
        self._others: dict[str, Any] = {}
        self._panels: dict[str, Any] = {}
        with ui.tab_panels(tabs, value="play").props("keep-alive"):
            with ui.tab_panel("play"):
                self._play = Play(place, query)
                self._play.teacher = Teaching(self._play)
                place.boards.add(self._play)
            for name in VIEWS[1:]:
                with ui.tab_panel(name):
                    self._panels[name] = ui.element("div")
        tabs.on_value_change(lambda event: self._opened(event.value))

    def show(self, view: str) -> None:
        """Open a view, the board where there is none of that name."""
        self._tabs.set_value(view if view in VIEWS else "play")

    def _opened(self, name: str) -> None:
        self._play.keys_on = name == "play"
        if name == "play":
            self._play.refresh_players()
        elif name not in self._others:
            with self._panels[name]:
                self._others[name] = self._make(name)
        for other, view in self._others.items():
            view.visible = other == name

    def _make(self, name: str) -> Any:
        if name == "games":
            from plugins.page.games_tab import Archive

            return Archive(self._play, lambda: self._tabs.set_value("play"))
        if name == "puzzles":
            from plugins.page.puzzles_tab import Puzzles

            return Puzzles(self._play, lambda: self._tabs.set_value("play"))
        from plugins.page.training_tab import Learn

        return Learn(self._place, self._play, lambda: self._tabs.set_value("play"))
