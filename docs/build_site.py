"""Builds the guides as a site: `python docs/build_site.py FOLDER --repository URL --home URL`.

Needs `pip install ".[site]"`. The pages are docs/*.md as they are: their order and groups are those of docs/README.md,
and links to files outside docs/ lead to the repository. A link that leads nowhere is an error.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
LINK = re.compile(r"(\]\()([^)\s:#]+)((?:#[^)\s]*)?\))")
"""A link to a file: its beginning, the file, its heading and end."""
START = "README.md"
CHINESE = "zh/README.md"
THEME = """
[project.theme]
font = false  # no request to another server
[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Dark mode"
[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Light mode"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the guides as a site.")
    parser.add_argument("folder", type=Path, help="where the site is written")
    parser.add_argument("--repository", required=True, help="address of the repository")
    parser.add_argument("--home", required=True, help="address of the site of players; the guides are in its docs/")
    options = parser.parse_args()
    repository, home = options.repository.rstrip("/"), options.home.rstrip("/")
    with tempfile.TemporaryDirectory() as place:
        pages = Path(place, "docs")
        shutil.copytree(DOCS, pages, ignore=shutil.ignore_patterns("*.py", "*.ipynb", "__pycache__"))
        for page in pages.rglob("*.md"):
            text = page.read_text(encoding="utf-8")
            page.write_text(linked(text, page.relative_to(pages).parent, repository), encoding="utf-8")
        Path(place, "zensical.toml").write_text(settings(repository, home), encoding="utf-8")
        build = [sys.executable, "-m", "zensical", "build", "--strict"]
        if code := subprocess.run(build, cwd=place, check=False).returncode:
            sys.exit(code)
        shutil.copytree(Path(place, "site"), options.folder, dirs_exist_ok=True)
    print(f"{options.folder}: {len(list(options.folder.rglob('*.html')))} pages")


def linked(text: str, folder: Path, repository: str) -> str:
    """Return a page of a folder of docs/ whose links to files outside docs/ and to notebooks lead to the repository."""

    def replaced(found: re.Match[str]) -> str:
        goal = (DOCS / folder / found[2]).resolve()
        if (goal.is_relative_to(DOCS) and goal.suffix != ".ipynb") or not goal.exists():
            return found[0]
        kind = "tree" if goal.is_dir() else "blob"
        return f"{found[1]}{repository}/{kind}/main/{goal.relative_to(DOCS.parent).as_posix()}{found[3]}"

    return LINK.sub(replaced, text)


def settings(repository: str, home: str) -> str:
    """Return zensical.toml; its values are written as JSON, which TOML reads."""
    values = {
        "site_name": "AlphaZero in Keras",
        "site_description": "A program that teaches itself board games, shows how it thinks, and plays against you",
        "site_url": f"{home}/docs/",
        "repo_url": repository,
    }
    pages = (f"  {{ {json.dumps(title)} = {json.dumps(to)} }}," for title, to in pages_in_order(home))
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    return "\n".join(["[project]", *lines, "nav = [", *pages, "]", THEME])


def pages_in_order(home: str) -> list[tuple[str, Any]]:
    """Return [(title, page or pages)] as docs/README.md groups them: a line in bold begins a group."""
    first, *groups = re.split(r"^\*\*(.+)\*\*$", guides(START), flags=re.MULTILINE)
    found: list[tuple[str, Any]] = [("Guides", START), ("Play in the browser", f"{home}/")]
    found += [(title_of(page), page) for page in pages_of(first, set())]
    seen = {page for _, page in found}
    for title, text in zip(groups[::2], groups[1::2], strict=True):
        found.append((title, pages_of(text, seen)))
    return [*found, ("中文", [CHINESE, *(f"zh/{page}" for page in pages_of(guides(CHINESE), set()))])]


def guides(start: str) -> str:
    """Return what a start page says before its next heading."""
    return (DOCS / start).read_text(encoding="utf-8").split("\n## ")[0]


def pages_of(text: str, seen: set[str]) -> list[str]:
    """Return the pages of its folder that a text links to and that were not seen before; they are then."""
    pages = [page for page in re.findall(r"\]\((\w+\.md)", text) if page not in seen]
    seen.update(pages)
    return list(dict.fromkeys(pages))


def title_of(page: str) -> str:
    """Return a page's heading."""
    return (DOCS / page).read_text(encoding="utf-8").split("\n")[0].lstrip("# ")


if __name__ == "__main__":
    main()
