"""The guides as a site: each guide is a page in a group, and each link leads somewhere, in files outside docs/ too."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
SCRIPT = HERE / "docs" / "build_site.py"
REPOSITORY, HOME = "https://example.org/some/project", "https://some.example.org/project"


@pytest.mark.skipif(not (HERE / "benchmarks").is_dir(), reason="guides link to what is not in this checkout")
def test_the_guides_are_built_as_a_site_whose_links_are_whole(tmp_path):
    pytest.importorskip("zensical", reason="zensical builds the site")
    command = [sys.executable, str(SCRIPT), str(tmp_path / "site"), "--repository", REPOSITORY, "--home", HOME]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    names = {path.relative_to(HERE / "docs").with_suffix("") for path in (HERE / "docs").rglob("*.md")}
    pages = {path.relative_to(tmp_path / "site").parent for path in (tmp_path / "site").rglob("index.html")}
    assert {name.parent if name.name == "README" else name for name in names} == pages
    start = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert f"{REPOSITORY}/blob/main/benchmarks/RESULTS.md" in start and f'href="{HOME}/"' in start


def test_every_guide_is_in_the_order_of_pages_once():
    order = runpy.run_path(str(SCRIPT))["pages_in_order"](HOME)
    found = [page for _, to in order for page in ([to] if isinstance(to, str) else to) if page != f"{HOME}/"]
    assert sorted(found) == sorted(path.relative_to(HERE / "docs").as_posix() for path in (HERE / "docs").rglob("*.md"))


def test_links_out_of_the_guides_lead_to_the_repository():
    linked = runpy.run_path(str(SCRIPT))["linked"]
    text = "[a](../benchmarks/RESULTS.md#go) [b](play.md) [c](../examples) [d](https://x.org) [e](#a) [f](../lost.md)"
    repository = f"{REPOSITORY}/blob/main"
    assert linked(text.replace("../benchmarks/RESULTS", "../README"), Path(), REPOSITORY) == (
        f"[a]({repository}/README.md#go) [b](play.md) [c]({REPOSITORY}/tree/main/examples) [d](https://x.org) [e](#a) "
        "[f](../lost.md)"
    )
    assert linked("[a](../../textbook.py) [b](../play.md)", Path("zh"), REPOSITORY) == (
        f"[a]({repository}/textbook.py) [b](../play.md)"
    )
    assert linked("[a](run.ipynb)", Path("zh"), REPOSITORY) == f"[a]({repository}/docs/zh/run.ipynb)"
