"""The documents: links lead somewhere, lines are short, both READMEs say the same."""

import re
from pathlib import Path

import pytest

from support.documents import NUMBER, outside_code, plain

HERE = Path(__file__).parent.parent
REMOVABLE = ("benchmarks", "plugins")
"""Folders without which the core is whole; links into them are not followed where they are not there."""
OF_REMOVABLE = tuple(f"{name}/**/*.md" for name in REMOVABLE)
FINISHED = (
    "*.md",
    "docs/*.md",
    "docs/zh/*.md",
    "run_archive/*/run0001/*.md",
    "early_versions/*/run0001/*.md",
    *OF_REMOVABLE,
)
"""Documents whose prose lines are short and whose links lead somewhere."""
LONGEST_LINE = 120


def long_lines(text):
    """Return the numbers of the long lines of prose: not of code, tables and links alone on a line."""
    link = re.compile(r"\W*\[[^]]*\]\(\S*\)\W*")
    lines = ((n, line) for n, line in outside_code(text) if not line.startswith("|") and not link.fullmatch(line))
    return [number for number, line in lines if len(line) > LONGEST_LINE]


def anchors(text):
    """Return the anchors that GitHub gives a document's headings."""
    found = set()
    for _, line in outside_code(text):
        if heading := re.match(r"#+ (.*)", line):
            title = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).strip().lower()
            slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
            number = next(n for n in range(len(found) + 1) if (slug if n == 0 else f"{slug}-{n}") not in found)
            found.add(f"{slug}-{number}" if number else slug)
    return found


def broken_links(text, file):
    """Return the links of a document, as if it were this file, that lead to no file or to no heading."""
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", "\n".join(line for _, line in outside_code(text))):
        if re.match(r"\w+:", target):
            continue
        name, _, anchor = target.partition("#")
        goal = (file.parent / name).resolve() if name else file
        if any(HERE / folder in goal.parents and not (HERE / folder).exists() for folder in REMOVABLE):
            continue
        if goal != file and not goal.exists():
            broken.append(target)
        elif anchor and anchor not in anchors(text if goal == file else goal.read_text(encoding="utf-8")):
            broken.append(target)
    return broken


def commands(text):
    """Return the lines of a document's code blocks without their comments, and the code within its lines."""
    outside = dict(outside_code(text))
    lines = [line for n, line in enumerate(text.splitlines(), 1) if n not in outside and not line.startswith("```")]
    blocks = [line.split("#")[0].rstrip() for line in lines]
    return blocks, sorted(" ".join(w.split()) for w in re.findall(r"`([^`]+)`", "\n".join(outside.values())))


def numbers(text):
    """Return the numbers in each row of a document's tables."""
    lines = text.replace("Connect 4", "").splitlines()
    rows = [re.findall(NUMBER, plain(line)) for line in lines if line.startswith("|")]
    return [sorted(row) for row in rows]


DOCUMENTS = sorted(file for pattern in FINISHED for file in HERE.glob(pattern))


def test_every_finished_document_is_there():
    assert all(list(HERE.glob(pattern)) for pattern in FINISHED if not pattern.startswith(REMOVABLE))


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.relative_to(HERE).as_posix())
def test_a_document_has_short_lines_and_whole_links(file):
    text = file.read_text(encoding="utf-8")
    assert long_lines(text) == []
    assert broken_links(text, file) == []


def test_both_readmes_have_the_same_commands_links_tables_and_figures():
    english, chinese = ((HERE / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md"))
    (blocks, words), (their_blocks, their_words) = commands(english), commands(chinese)
    assert [b.replace("ARGUMENTS", "参数") for b in blocks] == their_blocks
    assert sorted(w.replace("ARGUMENTS", "参数") for w in words) == their_words
    assert numbers(english) == numbers(chinese)
    links = [re.findall(r"\]\(([^)]+)\)", text) for text in (english, chinese)]
    theirs = [link.replace("docs/zh/", "docs/") for link in links[1]]
    assert sorted(link.replace(".zh-CN", "") for link in links[0]) == sorted(theirs)
    headings = [len(re.findall(r"^## ", text, re.MULTILINE)) for text in (english, chinese)]
    assert headings[0] == headings[1]


# ---- the checks themselves, on samples


def test_a_long_line_is_found_in_prose_only():
    long = "x " * 61
    assert long_lines(f"short\n{long}\n") == [2]
    assert long_lines(f"| {long} |\n```\n{long}\n```\n[{long}](page.md)\n") == []


def test_links_that_lead_nowhere_are_found(tmp_path):
    (tmp_path / "b.md").write_text("# Title\n## It's `x`: 0.95, twice\n## Title\n", encoding="utf-8")
    good = "[1](b.md) [2](b.md#title) [3](b.md#its-x-095-twice) [4](b.md#title-1) [5](https://x.org) [6](#top)\n# Top\n"
    assert broken_links(good, tmp_path / "a.md") == []
    bad = "[1](c.md) [2](b.md#titles) [3](#title)"
    assert broken_links(bad, tmp_path / "a.md") == ["c.md", "b.md#titles", "#title"]
