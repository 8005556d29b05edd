"""Colours and shapes of the boards: grounds, stones with light, marks. Their contrasts are tested.

A gradient has the same name in every drawing of a look, so that drawings on one page share it; a flat colour stands
behind each, for programs that do not find it.
"""

from __future__ import annotations

from typing import NamedTuple

CELL = 40.0


class Look(NamedTuple):
    """Colours of a board: its ground and lines, then for each side (fill, edge)."""

    ground: str
    line: str
    sides: dict[int, tuple[str, str]]
    light: dict[int, tuple[str, str]] = {}
    """For each side the colours of the lit and of the dark end of its stones."""
    radius: float = 16.0


LOOKS = {
    "holes": Look(
        "#4a86cf", "#35598a", {1: ("#d02f36", "#ee6b70"), -1: ("#f6c945", "#8a6414")},
        {1: ("#e0474c", "#b3222a"), -1: ("#fbdc7a", "#e0a92a")}, 15.5,
    ),
    "points": Look(
        "#e2b673", "#5e3f1a", {1: ("#24272c", "#0c0e10"), -1: ("#f4f3ee", "#6b6458")},
        {1: ("#6a717b", "#0b0d0f"), -1: ("#ffffff", "#cfccc2")}, 17.5,
    ),
    "squares": Look(
        "#3e8a62", "#12301f", {1: ("#1f2328", "#0c0e10"), -1: ("#f4f4f0", "#a9a99f")},
        {1: ("#565d66", "#0b0d0f"), -1: ("#ffffff", "#e2e2dc")},
    ),
    "corners": Look(
        "#33414f", "#a3b3c2", {1: ("#ff9f43", "#8a4a08"), -1: ("#7cc4ff", "#14507f")},
        {1: ("#ffc98a", "#ee8420"), -1: ("#bfe2ff", "#52a8ee")}, 12.5,
    ),
    "hexagons": Look(
        "#efe7d6", "#7d7465", {1: ("#c9303f", "#7c1722"), -1: ("#2469b3", "#123f70")},
        {1: ("#e2606c", "#a81f2d"), -1: ("#5e9ade", "#174f8c")}, 15.0,
    ),
    "marks": Look("none", "currentColor", {1: ("#d8404f", "#d8404f"), -1: ("#2f7fd0", "#2f7fd0")}),
}  # fmt: skip
HOLE = "#10233d"
MORE, LESS = "#7a3cf0", "#d6227f"
"""Colours of an overlay: unlike all pieces and grounds."""
DARK, BRIGHT = "#14171c", "#ffffff"
"""What is drawn over a board has an edge of one and a core of the other: it is visible on all grounds and stones."""
HINT = "#5be7ff"
FORBIDDEN_CROSS = "#a01c15"
INK = f'fill="{DARK}" stroke="{BRIGHT}" stroke-opacity=".85" stroke-width="2" paint-order="stroke"'


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, 0 to 1 (WCAG 2.2).

    >>> luminance("#ffffff")
    1.0
    """
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.2).

    >>> contrast("#ffffff", "#000000")
    21.0
    """
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ink_on(colour: str) -> str:
    """Return the colour of the two for texts that is more visible on this one."""
    return max((DARK, BRIGHT), key=lambda ink: contrast(ink, colour))


def opacity_of(strength: float) -> float:
    """Return the opacity of an overlay's disc, for a strength from 0 to 1."""
    return 0.12 + 0.78 * strength


def ink_over(ground: str, colour: str, opacity: float) -> str:
    """Return the attributes of a text on a disc that lets the ground through; "none" is the page, light or dark."""
    if ground == "none":
        return INK
    channels = zip(*([int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (ground, colour)), strict=True)
    ink = ink_on("#" + "".join(f"{round(under + (over - under) * opacity):02x}" for under, over in channels))
    edge = BRIGHT if ink == DARK else DARK
    return f'fill="{ink}" stroke="{edge}" stroke-opacity=".4" stroke-width="1.2" paint-order="stroke"'


def definitions(name: str) -> str:
    """Return the gradients and patterns of a look, to stand once in a drawing."""
    look, parts = LOOKS[name], []
    for side, (lit, dark) in look.light.items():
        middle = look.sides[side][0]
        stops = f'<stop stop-color="{lit}"/><stop offset=".45" stop-color="{middle}"/>'
        if name == "holes":  # a disc with a rim
            stops = (
                f'<stop offset=".62" stop-color="{middle}"/><stop offset=".66" stop-color="{dark}"/>'
                f'<stop offset=".76" stop-color="{lit}"/><stop offset=".8" stop-color="{middle}"/>'
            )
        place = "" if name == "holes" else ' cx=".36" cy=".3" r=".75"'
        last = f'<stop offset="1" stop-color="{dark}"/>'
        parts.append(f'<radialGradient id="az-{name}{_word(side)}"{place}>{stops}{last}</radialGradient>')
    if name == "holes":
        hole = "M4.5 20a15.5 15.5 0 1 0 31 0a15.5 15.5 0 1 0-31 0z"
        parts.append(
            '<pattern id="az-face" width="40" height="40" patternUnits="userSpaceOnUse">'
            f'<path d="M0 0h40v40h-40z{hole}" fill="{look.ground}" fill-rule="evenodd"/>'
            f'<path d="{hole}" fill="none" stroke="{look.line}" stroke-width="1.6"/></pattern>'
        )
    if name == "points":
        parts.append(
            '<linearGradient id="az-wood" x2=".3" y2="1"><stop stop-color="#e9c184"/><stop offset=".5" '
            f'stop-color="{look.ground}"/><stop offset="1" stop-color="#d9aa64"/></linearGradient>'
        )
    return f"<defs>{''.join(parts)}</defs>" if parts else ""


def ground(name: str) -> str:
    """Return the paint of a look's ground."""
    return f"url(#az-wood) {LOOKS[name].ground}" if name == "points" else LOOKS[name].ground


def side_paint(name: str, side: int) -> str:
    """Return the attributes that the stones of a side share."""
    fill, edge = LOOKS[name].sides[side]
    if name == "marks":
        return f'fill="none" stroke="{fill}" stroke-width="5" stroke-linecap="round"'
    return f'fill="url(#az-{name}{_word(side)}) {fill}" stroke="{edge}" stroke-width="1.2"'


def stone(name: str, x: float, y: float, side: int, kind: str, more: str = "") -> str:
    """Return the shape of a stone of these classes; its paint is `side_paint`."""
    if name == "marks" and side == 1:
        return f'<path class="{kind}" d="M{x - 10:g} {y - 10:g}l20 20m0 -20l-20 20"{more}/>'
    radius = 11.0 if name == "marks" else LOOKS[name].radius
    return f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="{radius:g}"{more}/>'


def dots(places: list[tuple[float, float]], radius: float, paint: str) -> str:
    """Return discs of one paint as one path: a line of no length with round ends each."""
    path = "".join(f"M{x:g} {y:g}h0" for x, y in places)
    line = f'fill="none" stroke-width="{2 * radius:g}" stroke-linecap="round" {paint}'
    return f'<path d="{path}" {line}/>' if path else ""


def _word(side: int) -> str:
    return "1" if side == 1 else "2"
