"""What a notebook shows on demand: the settings of a run as a table of what differs, and dumps that are folded."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from html import escape
from typing import Any

from config import Config, differences
from interface.help import setting_texts
from languages.translate import tr


class Settings:
    """The settings of a run that differ from others, by default from the defaults of `config.py`."""

    def __init__(self, config: Config, other: Config | None = None) -> None:
        self.changed = differences(other or Config(), config)
        self.heading = tr("default") if other is None else tr("before")

    def __repr__(self) -> str:
        lines = [f"{name}: {_shown(new)} ({self.heading} {_shown(old)})" for name, (old, new) in self.changed.items()]
        return "\n".join(lines) or tr("no difference")

    def _repr_html_(self) -> str:
        if not self.changed:
            return f"<div>{escape(tr('no difference'))}</div>"
        texts = setting_texts()
        head = "".join(f"<th>{escape(word)}</th>" for word in (tr("setting"), tr("here"), self.heading))
        head += f'<th style="text-align:left">{escape(tr("meaning"))}</th>'
        rows = [
            f"<tr><td><code>{name}</code></td><td><b>{escape(_shown(new))}</b></td><td>{escape(_shown(old))}</td>"
            f'<td style="text-align:left">{escape(texts.get(name, ""))}</td></tr>'
            for name, (old, new) in self.changed.items()
        ]
        return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


class Folded:
    """A long text under its title, to open with a click."""

    def __init__(self, title: str, text: str | Callable[[], Any]) -> None:
        """text: the text, or a function that prints it."""
        printed = io.StringIO()
        if callable(text):
            with contextlib.redirect_stdout(printed):
                text()
        self.title, self.text = title, printed.getvalue() if callable(text) else text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<details><summary>{escape(self.title)}</summary><pre>{escape(self.text)}</pre></details>"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
