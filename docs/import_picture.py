"""Draws who imports whom: `python docs/import_picture.py` writes docs/imports.svg, `--check` says if it is out of date.

A box is a folder or a file of the top folder; an arrow leads from what imports to what is imported. Arrows that follow
from two others are left out. The core stands below the line, the plugins above it.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "imports.svg"
WIDTH, HEIGHT, GAP, RISE = 106, 30, 14, 74
"""Of a box; between boxes of a row; from row to row."""
CORE, PLUGIN, LINE = "#3566a8", "#c56a0d", "#8a929c"
STYLE = (
    "<style>svg{--ink:#1d2127;--paper:#fff}"
    "@media(prefers-color-scheme:dark){svg{--ink:#f0f3f6;--paper:#0d1117}}</style>"
)
"""Text and background, which follow the reader's dark mode."""
MARGIN = 20


def places() -> dict[str, list[Path]]:
    """Return {box: its files}: the files of the top folder, the core's folders, the folders of plugins/."""
    found = {path.stem: [path] for path in ROOT.glob("*.py") if path.stem not in ("conftest", "setup")}
    for init in (*ROOT.glob("*/__init__.py"), *ROOT.glob("plugins/*/__init__.py")):
        name = init.parent.relative_to(ROOT).as_posix()
        if name not in ("plugins", "alphazero_keras"):
            found[name] = [path for path in init.parent.rglob("*.py") if "tests" not in path.parts]
    return found


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports anywhere, also late or for types only; not as the program's beginning."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tree.body = [node for node in tree.body if "__main__" not in ast.unparse(node)[:40]]
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def box_of(module: str, boxes: dict[str, list[Path]]) -> str | None:
    """Return the box of a module; None if it is not the program's."""
    words = module.split(".")
    own = "/".join(words[:2]) if words[0] == "plugins" else words[0]
    return own if own in boxes else None


def arrows() -> dict[str, set[str]]:
    """Return {box: the boxes that it imports}."""
    boxes = places()
    found: dict[str, set[str]] = {}
    for box, files in boxes.items():
        targets = {box_of(name, boxes) for path in files for name in imported(path)}
        found[box] = {target for target in targets if target is not None} - {box}
    return found


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the arrows that do not follow from others."""

    def reach(box: str, seen: set[str]) -> set[str]:
        for target in graph[box] - seen:
            seen.add(target)
            reach(target, seen)
        return seen

    return {
        box: {t for t in targets if not any(t in reach(other, set()) for other in targets - {t})}
        for box, targets in graph.items()
    }


def levels(graph: dict[str, set[str]]) -> dict[str, int]:
    """Return {box: its row, from the bottom}: one above the highest box that it imports; plugins above the core."""
    found: dict[str, int] = {}

    def level(box: str, floor: int, path: tuple[str, ...] = ()) -> int:
        if box in path:
            sys.exit("imports in a circle: " + " -> ".join([*path[path.index(box) :], box]))
        if box not in found:
            found[box] = max((level(target, floor, (*path, box)) + 1 for target in graph[box]), default=0)
            found[box] = max(found[box], floor)
        return found[box]

    core = [box for box in graph if "/" not in box]
    top = max(level(box, 0) for box in core)
    for box in graph.keys() - core:
        level(box, top + 1)
    return found


def upward() -> list[str]:
    """Return the arrows from the core to a plugin; there is none."""
    return [f"{box} -> {t}" for box, ts in arrows().items() if "/" not in box for t in sorted(ts) if "/" in t]


def picture() -> str:
    """Return the SVG."""
    graph = reduced(arrows())
    rows: dict[int, list[str]] = {}
    for box, row in sorted(levels(graph).items()):
        rows.setdefault(row, []).append(box)
    widest = max(map(len, rows.values()))
    width = 2 * MARGIN + widest * (WIDTH + GAP) - GAP
    count = max(rows) + 1
    height = 2 * MARGIN + count * RISE - (RISE - HEIGHT)
    at: dict[str, tuple[float, float]] = {}
    for row in range(count):  # from the bottom: a box stands above what it imports
        line = rows.get(row, [])
        wanted = {b: [at[t][0] for t in graph[b]] for b in line}
        line.sort(key=lambda b: (sum(wanted[b]) / len(wanted[b]) if wanted[b] else 0.0, b))
        left = (width - (len(line) * (WIDTH + GAP) - GAP)) / 2
        for i, box in enumerate(line):
            shift = 34 * (row % 2 * 2 - 1) if len(line) < widest else 0  # so that arrows pass beside boxes
            at[box] = left + i * (WIDTH + GAP) + shift, height - MARGIN - HEIGHT - row * RISE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="Who imports whom" font-family="system-ui, sans-serif" font-size="12">',
        STYLE,
        f'<rect width="{width}" height="{height}" rx="8" fill="var(--paper)"/>',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{LINE}"/></marker></defs>',
    ]
    if above := [row for row, line in rows.items() if any("/" in box for box in line)]:
        y = height - MARGIN - min(above) * RISE + (RISE - HEIGHT) / 2
        parts.append(f'<path d="M0 {y}H{width}" stroke="{PLUGIN}" stroke-dasharray="5 5"/>')
        parts.append(f'<text x="8" y="{y - 6}" fill="{PLUGIN}">plugins</text>')
        parts.append(f'<text x="8" y="{y + 16}" fill="{CORE}">core</text>')
    for box, targets in sorted(graph.items()):
        x, y = at[box][0] + WIDTH / 2, at[box][1] + HEIGHT
        for target in sorted(targets):
            a, b = at[target][0] + WIDTH / 2, at[target][1]
            parts.append(
                f'<path d="M{x:g} {y:g}C{x:g} {(y + b) / 2:g} {a:g} {(y + b) / 2:g} {a:g} {b - 2:g}" fill="none" '
                f'stroke="{LINE}" stroke-width="1.1" marker-end="url(#tip)"/>'
            )
    for box, (x, y) in sorted(at.items()):
        colour = PLUGIN if "/" in box else CORE
        name = box.removeprefix("plugins/") + ("" if "/" in box or (ROOT / box).is_dir() else ".py")
        parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" '
            f'fill="var(--paper)" stroke="{colour}"/>'
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{colour}" fill-opacity=".12"/>'
            f'<text x="{x + WIDTH / 2:g}" y="{y + 19:g}" text-anchor="middle" fill="var(--ink)">{name}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw who imports whom.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if docs/imports.svg differs")
    args = parser.parse_args()
    if wrong := upward():
        sys.exit("the core imports plugins: " + ", ".join(wrong))
    drawn = picture()
    if args.check:
        sys.exit(0 if PICTURE.read_text(encoding="utf-8") == drawn else "docs/imports.svg is out of date")
    PICTURE.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
