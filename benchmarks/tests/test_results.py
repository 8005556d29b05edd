"""RESULTS.md has whole rows and README's figures; each entry of the log has its parts; all is in an index."""

import re
from pathlib import Path

import pytest

from support.documents import NUMBER, outside_code, plain

HERE = Path(__file__).parents[2]
RESULTS = HERE / "benchmarks" / "RESULTS.md"
LOG = HERE / "benchmarks" / "log"
COLUMNS = ["Claim", "Figure", "Machine", "Command", "Date", "Commit", "Log"]
MACHINES = ("M1", "M2", "M3", "M4", "M5", "M6", "not noted")

UNIT = r"(?:%|(?:us|ms|s|seconds?|minutes?|hours?|KB|MB|GB|KiB|MiB|GiB|Elo|times)\b|\w+/s\b)"
VALUE = rf"{NUMBER}(?: ±{NUMBER})?"
FIGURE = re.compile(
    rf"(?<![\w.])(?:(?P<games>{NUMBER} of {NUMBER}|{NUMBER} won(?:, {NUMBER} drawn)?(?:, {NUMBER} lost)?)"
    rf"|(?P<value>{NUMBER})(?P<error> ±{NUMBER})? ?(?P<unit>{UNIT})|(?P<bare>{NUMBER} ±{NUMBER}))"
)


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


def test_results_has_whole_rows():
    text = RESULTS.read_text(encoding="utf-8")
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


# ---- figures in the guides

MEASURED = re.compile(
    rf"{NUMBER} \[[^\]\d]*\d[^\]]*\]|{NUMBER} ±{NUMBER}|{NUMBER} of {NUMBER}\b(?= games| won)|{NUMBER} won, "
)
"""Figures that a match or a measurement gave: with an interval, or games of games."""
TO_BENCHMARKS = re.compile(r"\[([^\]]*)\]\(\.\./benchmarks/([^)]*)\)")


def rows_by_key(results):
    """Return {the entry of the log that a row names: the row as plain text}; more rows of an entry are joined."""
    found = {}
    for line in results.splitlines():
        if line.startswith("|") and (key := re.search(r"\]\((log/[^)]*)\) \|$", line)):
            found[key[1]] = found.get(key[1], "") + plain(line) + "\n"
    return found


def without_a_row(guide, rows):
    """Return the links and figures of a guide that no row of RESULTS holds.

    "[measured](...)" leads to the entry that a row names, and figures stand in a row that a link of the same paragraph
    leads to. A link whose text is the path may lead to all of RESULTS.
    """
    bad, text = [], "\n".join(line for _, line in outside_code(guide))
    for part in re.split(r"\n\s*\n|\n(?=- |\d+\. |\| )", text):
        links = TO_BENCHMARKS.findall(" ".join(part.split()))
        bad += [to for words, to in links if words != f"benchmarks/{to}" and to not in rows and "README.md" not in to]
        known = "".join(rows.get(to, "") for _, to in links)
        bad += [m[0] for m in MEASURED.finditer(plain(" ".join(part.split()))) if m[0] not in known]
    return bad


@pytest.mark.parametrize("guide", sorted((HERE / "docs").glob("*.md")), ids=lambda path: path.stem)
def test_what_a_guide_calls_measured_has_a_row_of_results(guide):
    assert without_a_row(guide.read_text(encoding="utf-8"), rows_by_key(RESULTS.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "words, bad",
    [
        ("It gains 5 [1, 9] ([log](../benchmarks/log/a.md#b)).", []),
        ("All is in [benchmarks/RESULTS.md](../benchmarks/RESULTS.md).", []),
        ("It is fast ([measured](../benchmarks/RESULTS.md)).", ["RESULTS.md"]),
        ("It is fast ([measured](../benchmarks/log/a.md#c)).", ["log/a.md#c"]),
        ("It gains 6 [1, 9] ([log](../benchmarks/log/a.md#b)).", ["6 [1, 9]"]),
        ("It gains 5 [1, 9].\n\nSo it is ([log](../benchmarks/log/a.md#b)).", ["5 [1, 9]"]),
        ("It won 39 of 40 games.", ["39 of 40"]),
    ],
)
def test_a_figure_or_link_without_its_row_is_found(words, bad):
    assert without_a_row(words, {"log/a.md#b": "| x | Elo 5 [1, 9] |"}) == bad
