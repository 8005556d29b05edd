"""Controls that the views share."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui


def icon_button(text: str, icon: str, act: Callable[[], object] | None, tip: str) -> ui.button:
    """Return a flat button with an icon; its tip is also its name for screen readers. act: None for a menu's."""
    button = ui.button(text, icon=icon, on_click=(lambda: act()) if act else None)
    button.props(f'flat dense aria-label="{tip}"').tooltip(tip)
    return button
