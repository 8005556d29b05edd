"""docs/zh/run.ipynb is run.ipynb in Chinese: the same cells, the same code, the same names and numbers in its words."""

import ast
import json
import re
from pathlib import Path

HERE = Path(__file__).parents[2]


def cells(path):
    return json.loads((HERE / path).read_text(encoding="utf-8"))["cells"]


ENGLISH = cells("run.ipynb")
BEGIN, *CHINESE = (cell for cell in cells("docs/zh/run.ipynb") if cell["id"] != ENGLISH[0]["id"])
PAIRS = list(zip(ENGLISH[1:], CHINESE, strict=True))


def source(cell):
    return "".join(cell["source"])


class Wordless(ast.NodeTransformer):
    """Empties texts for people: those that are no name, move or setting."""

    def visit_Constant(self, node):
        text = isinstance(node.value, str) and not re.fullmatch(r"[\w:.()=,]*\w\)?", node.value, re.ASCII)
        return ast.Constant("") if text else node


def code(cell):
    return ast.dump(Wordless().visit(ast.parse(source(cell))))


def named(cell):
    """Return names, letters of the table, decimals and formulas in a cell's words."""
    found = re.findall(r"`[^`]+`|\*\*\w\*\*|\d+\.\d+|\$\$.*?\$\$", source(cell), re.DOTALL)
    return sorted(re.sub(r"\s+", "", name) for name in found)


def test_its_cells_do_what_those_of_the_english_one_do():
    for english, chinese in PAIRS:
        for fact in ("id", "cell_type", "metadata"):
            assert english[fact] == chinese[fact]
        if english["cell_type"] == "code":
            assert code(english) == code(chinese), english["id"]
    assert "chdir" in source(BEGIN), "it lies in another folder"


def test_its_words_name_the_same_code_and_the_same_figures():
    for english, chinese in PAIRS:
        if english["cell_type"] == "markdown":
            assert named(english) == named(chinese), english["id"]


def test_its_words_are_chinese_and_its_links_lead_somewhere():
    for _, chinese in PAIRS:
        if chinese["cell_type"] == "markdown":
            assert re.search("[\u4e00-\u9fff]", source(chinese))
            for link in re.findall(r"\]\((?!http)([^)#]+)", source(chinese)):
                assert (HERE / "docs" / "zh" / link).exists(), link
