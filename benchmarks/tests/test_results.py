"""RESULTS.md has whole rows and README's figures; each entry of the log has its parts; all is in an index."""

import re
from pathlib import Path

import pytest

from support.documents import NUMBER, outside_code, plain

HERE = Path(__file__).parents[2]
RESULTS = HERE / "benchmarks" / "RESULTS.md"
LOG = HERE / "benchmarks" / "log"
COLUMNS = ["Claim", "Figure", "Machine", "Command", "Date", "Commit", "Log"]
MACHINES = ("M1", "M2", "M3", "M4", "M5", "not noted")

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
