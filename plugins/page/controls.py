"""Controls that the views share."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

ABOVE = 'anchor="top middle" self="bottom middle"'
"""Where a tip is: what a button of the board does is said below it."""


def icon_button(text: str, icon: str, act: Callable[[], object] | None, tip: str) -> ui.button:
    """Return a flat button with an icon; its tip, with its text, is also its name for screen readers.

    act: None for a menu's.
    """
    name = tip if text.lower() in tip.lower() else f"{tip}: {text}"
    button = ui.button(text, icon=icon, on_click=(lambda: act()) if act else None)
    with button.props(f'flat dense aria-label="{name}"'):
        ui.tooltip(tip).props(ABOVE)
    return button
