"""The documents: RESULTS is one page of whole rows and has README's figures, links lead somewhere, lines are short."""

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent
RESULTS = HERE / "benchmarks" / "RESULTS.md"
LOG = HERE / "benchmarks" / "log"
FINISHED = ("*.md", "docs/*.md", "run_archive/*/run0001/*.md", "benchmarks/*.md", "benchmarks/log/*.md")
"""Documents whose prose lines are short and whose links lead somewhere."""
COLUMNS = ["Claim", "Figure", "Machine", "Command", "Date", "Commit", "Log"]
LONGEST_LINE, LONGEST_RESULTS, LONGEST_README, LARGEST_README = 120, 200, 150, 9 * 1024
MACHINES = ("M1", "M2", "M3", "M4", "M5", "not noted")

NUMBER = r"\d+(?:\.\d+)?"
UNIT = r"(?:%|(?:us|ms|s|seconds?|minutes?|hours?|KB|MB|GB|KiB|MiB|GiB|Elo|times)\b|\w+/s\b)"
VALUE = rf"{NUMBER}(?: ±{NUMBER})?"
FIGURE = re.compile(
    rf"(?<![\w.])(?:(?P<games>{NUMBER} of {NUMBER}|{NUMBER} won(?:, {NUMBER} drawn)?(?:, {NUMBER} lost)?)"
    rf"|(?P<value>{NUMBER})(?P<error> ±{NUMBER})? ?(?P<unit>{UNIT})|(?P<bare>{NUMBER} ±{NUMBER}))"
)


def outside_code(text):
    """Yield (number, line) of what is not in a code block."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield number, line


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
        goal = file.parent / name if name else file
        if goal != file and not goal.exists():
            broken.append(target)
        elif anchor and anchor not in anchors(text if goal == file else goal.read_text(encoding="utf-8")):
            broken.append(target)
    return broken


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def bad_rows(text):
    """Return the rows of tables of claims that are not whole, and the first lines of tables that are none."""
    bad, header = [], None
    for line in text.splitlines():
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = cells(line)
            bad += [line] if header != COLUMNS else []
        elif not re.fullmatch(r"[|\- ]+", line):
            row = cells(line)
            if len(row) != len(COLUMNS) or not all(row):
                bad.append(line)
                continue
            _, _, machine, command, date, commit, log = row
            whole = machine in MACHINES and "`" in command and re.fullmatch(r"\d{4}-\d\d-\d\d", date)
            whole = whole and re.fullmatch(r"`[0-9a-f]{7,}`", commit) and re.fullmatch(r"\[.+\]\(log/.+#.+\)", log)
            bad += [] if whole else [line]
    return bad


def plain(text):
    """Return a text without bold, links and commas in numbers."""
    text = re.sub(r"\]\([^)]*\)", "]", text).replace("**", "")
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)


def figures(text):
    """Return the figures of a text as matches of FIGURE: shares, games, numbers with a unit, intervals; not in code."""
    return list(FIGURE.finditer(re.sub(r"`[^`]*`", "` `", plain(text))))


def stands(figure, text):
    """True when a figure stands in a plain text; without an interval of its own also with one, or in a list."""
    if wanted := figure["games"] or figure["bare"]:
        return re.search(rf"(?<![\w.]){re.escape(wanted)}(?![\w.]*\d)", text) is not None
    error = re.escape(figure["error"]) if figure["error"] else rf"(?: ±{NUMBER})?"
    rest = rf"(?:(?:,| and) {VALUE})*"
    pattern = rf"(?<![\w.]){re.escape(figure['value'])}{error}{rest} ?{re.escape(figure['unit'])}(?!\w)"
    return re.search(pattern, text) is not None


def missing_figures(readme, results):
    """Return the figures of README, outside of code, that RESULTS does not have."""
    text, words = plain(results), "\n".join(line for _, line in outside_code(readme))
    return [m[0] for m in figures(words) if not stands(m, text)]


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
    assert all(list(HERE.glob(pattern)) for pattern in FINISHED)


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.relative_to(HERE).as_posix())
def test_a_document_has_short_lines_and_whole_links(file):
    text = file.read_text(encoding="utf-8")
    assert long_lines(text) == []
    assert broken_links(text, file) == []


def test_links_into_benchmarks_lead_somewhere():
    for file in (*HERE.glob("*.md"), *HERE.glob("docs/*.md")):
        broken = broken_links(file.read_text(encoding="utf-8"), file)
        assert [target for target in broken if "benchmarks/" in target] == [], file.name


def test_results_is_one_page_of_whole_rows():
    text = RESULTS.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_RESULTS
    assert len(re.findall(r"(?m)^\|.*\]\(log/", text)) > 50
    assert bad_rows(text) == []


def test_every_entry_of_the_log_has_its_parts_and_every_file_is_in_the_index():
    index = (LOG / "README.md").read_text(encoding="utf-8")
    files = sorted(LOG.glob("2*.md"))
    assert files
    for file in files:
        assert re.fullmatch(r"\d{4}-\d\d-[a-z0-9-]+\.md", file.name) and f"]({file.name})" in index
        for entry in re.split(r"(?m)^## ", file.read_text(encoding="utf-8"))[1:]:
            title, _, rest = entry.partition("\n")
            assert re.match(r"\n\d{4}-\d\d-\d\d, .*`[0-9a-f]{7,}`", rest), f"{file.name}, {title}: no date and commit"
            assert "**Result.**" in rest and "**Decision.**" in rest, f"{file.name}, {title}: no result or decision"


def test_every_script_is_in_the_index_of_benchmarks():
    index = (HERE / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert [file.name for file in (HERE / "benchmarks").glob("*.py") if f"| `{file.name}` |" not in index] == []


def test_the_figures_of_readme_stand_in_results():
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    assert len(figures(readme)) > 10
    assert missing_figures(readme, RESULTS.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", ["README.md", "README.zh-CN.md"])
def test_readme_is_short(name):
    data = (HERE / name).read_bytes()
    assert len(data.splitlines()) <= LONGEST_README and len(data) <= LARGEST_README


def test_both_readmes_have_the_same_commands_links_tables_and_figures():
    english, chinese = ((HERE / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md"))
    (blocks, words), (their_blocks, their_words) = commands(english), commands(chinese)
    assert [b.replace("ARGUMENTS", "参数") for b in blocks] == their_blocks
    assert sorted(w.replace("ARGUMENTS", "参数") for w in words) == their_words
    assert numbers(english) == numbers(chinese)
    links = [re.findall(r"\]\(([^)]+)\)", text) for text in (english, chinese)]
    assert sorted(link.replace(".zh-CN", "") for link in links[0]) == sorted(links[1])
    headings = [len(re.findall(r"^## ", text, re.MULTILINE)) for text in (english, chinese)]
    assert headings[0] == headings[1]


# ---- the checks themselves, on samples

ROW = "| x | 1 % | M1 | `a` | 2026-11-25 | `abcdef0` | [l](log/a.md#b) |"
HEAD = f"| {' | '.join(COLUMNS)} |\n|---|---|---|---|---|---|---|\n"


def test_figures_are_found_in_all_their_forms():
    text = "keeps **97.9 ±0.5 %**, 1,234 us, 30 of 30, 39 won, 1 drawn, 0 lost to `rollout:500 9 %`; 18 of 20 won"
    assert [m[0] for m in figures(text)] == [
        "97.9 ±0.5 %", "1234 us", "30 of 30", "39 won, 1 drawn, 0 lost", "18 of 20",
    ]  # fmt: skip
    assert [m[0] for m in figures("version 3, 3,000 positions, komi 2.5, page 7")] == []


@pytest.mark.parametrize(
    "figure, text, there",
    [
        ("97.9 ±0.5 %", "it keeps 97.9 ±0.5 %", True),
        ("97.9 %", "it keeps 97.9 ±0.5 %", True),
        ("0.7 us", "0.7, 2.4 and 14 us", True),
        ("97.9 ±0.5 %", "it keeps 97.9 ±0.4 %", False),
        ("97.9 ±0.5 %", "it keeps 97.9 %", False),
        ("7.9 %", "it keeps 97.9 %", False),
        ("97 %", "it keeps 97.9 %", False),
        ("10 us", "10 ms", False),
        ("0 of 10", "10 of 10", False),
        ("10 of 10", "10 of 100", False),
        ("39 won, 1 drawn, 0 lost", "39 won, 1 drawn, 1 lost", False),
    ],
)
def test_a_figure_stands_in_a_text_only_as_itself(figure, text, there):
    (found,) = figures(figure)
    assert stands(found, text) == there


def test_a_figure_of_readme_that_nobody_measured_is_found():
    readme = "# A\n\nIt takes 3 GB.\n\n| it keeps 99.9 % |\n| and 97 % |\n\n```\n# 50 %\n```\n"
    assert missing_figures(readme, "97 %") == ["3 GB", "99.9 %"]


@pytest.mark.parametrize(
    "row",
    [
        ROW.replace("1 %", " "), ROW.replace("M1", "M9"), ROW.replace("2026-11-25", "today"), ROW.replace("`a`", "a"),
        ROW.replace("`abcdef0`", "-"), ROW.replace("#b", ""), ROW + " x |",
    ],
)  # fmt: skip
def test_a_row_that_is_not_whole_is_found(row):
    assert bad_rows(HEAD + ROW) == []
    assert bad_rows(HEAD + row) == [row]


def test_a_table_of_other_columns_is_found():
    assert bad_rows("| Claim | Figure |\n|---|---|\n") == ["| Claim | Figure |"]


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
