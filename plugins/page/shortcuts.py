"""The list of keys: a dialog, opened by its button in the bar or by ? (play.js)."""

from __future__ import annotations

from html import escape

from nicegui import ui

from languages.translate import tr
from plugins.page.controls import icon_button

TEXTS = (
    "one move back or on", "to the start or to the end", "this list", "close what is open",
    "on the board: move the cursor", "on the board: play at the cursor", "in Analyse, over the board: walk",
    "mouse wheel",
)  # fmt: skip
KEYS = dict(zip(("← →", "Home End", "?", "Esc", "Tab, ← → ↑ ↓", "Enter", "mouse wheel"), TEXTS[:-1], strict=True))
"""{keys: what they do}"""


def build_shortcuts() -> None:
    """Put the button, and the dialog, where the page is being built."""
    with ui.dialog() as dialog, ui.card().classes("question card stack"):
        dialog.props(f'aria-label="{tr("keyboard shortcuts")}"')
        ui.html(keys_html(), sanitize=False)
        ui.button(tr("Close"), on_click=dialog.close).props("flat dense no-caps")
    icon_button("", "keyboard", dialog.open, tr("keyboard shortcuts")).props("round").classes("list-keys")


def keys_html() -> str:
    """Return the keys and what they do."""
    rows = (f"<dt><kbd>{escape(tr(keys) if keys in TEXTS else keys)}</kbd></dt><dd>{escape(tr(text))}</dd>"
            for keys, text in KEYS.items())  # fmt: skip
    return f'<dl class="keys">{"".join(rows)}</dl>'
