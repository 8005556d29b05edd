"""The language of a tab: the address's `language`, else the one chosen last in this browser, else the browser's."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from nicegui import background_tasks, context

from languages.translate import LANGUAGES, chosen, language, of_browser, of_tab, tr

T = TypeVar("T")
_tabs: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
SWITCH = (
    "() => {{ const place = new URL(location); place.searchParams.set('language', '{0}');"
    " document.cookie = 'language={0}; max-age=31536000; samesite=lax';"
    " location.replace(place) }}"
)

LOST = (  # NiceGUI's own words are those of one language for all tabs
    "addEventListener('DOMContentLoaded', () => {{ const box = document.getElementById('popup');"
    " box.setAttribute('role', 'alert');"
    " box.querySelectorAll('span').forEach((one, i) => {{ one.textContent = {}[i] }}) }})"
)


def begin_tab(named: str) -> None:
    """Choose the language of the tab whose page is being built; `named`: by the address, "" or anything."""
    request = context.client.request
    kept = request.cookies.get("language", "")
    found = next((name for name in (named, kept) if name in LANGUAGES), "")
    _tabs[context.client] = found or of_browser(request.headers.get("accept-language", ""))


def words_of_loss() -> str:
    """Return the script that puts what a lost connection shows into the language of the tab."""
    return LOST.format(json.dumps([tr("Connection lost."), tr("Trying to reconnect ...")]))


def in_background(work: Coroutine[Any, Any, None], name: str) -> None:
    """Start a task that uses the language of the tab in whose event it begins."""
    spoken = language()

    async def run() -> None:
        chosen.set(spoken)
        await work

    background_tasks.create(run(), name=name)


def in_language(work: Callable[..., T], *given: Any) -> Callable[[], T]:
    """Return a function for a thread, which works in the language of the tab in whose event this is called."""
    with_it = copy_context()
    with_it.run(chosen.set, language())
    return partial(with_it.run, work, *given)


def _of_tab() -> str:
    try:
        return _tabs.get(context.client, "")
    except RuntimeError:  # outside of a tab
        return ""


of_tab.append(_of_tab)
