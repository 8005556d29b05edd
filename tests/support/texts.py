"""Finds the texts of the program that are translated."""

import ast
import re

from test_rooms import HERE, SOURCES, parsed


def texts():
    """Return {text: file}: those of all calls of `tr`, and of each module's TEXTS, translated by way of a name."""
    found = {}
    for path in (*HERE.glob("plugins/*/page/*.js"), *HERE.glob("plugins/page/views/*.js")):
        source = path.read_text(encoding="utf-8")
        said = re.findall(r'\b(?:tr|said)\(\s*"([^"]+)"', source)
        found |= dict.fromkeys(said, path.relative_to(HERE).as_posix())
    for path in SOURCES:
        source = (HERE / path).read_text(encoding="utf-8")
        for node in ast.walk(parsed(source)) if "tr(" in source else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tr":
                found |= dict.fromkeys(constants(node.args[0]), path)
        for node in parsed(source).body if "\nTEXTS" in source else ():
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and "TEXTS" in ast.unparse(node).split("=")[0]:
                found |= dict.fromkeys(ast.literal_eval(node.value), path)
    return found


def constants(node):
    """Return the texts that an argument can be: one in quotes, or either end of a condition."""
    if isinstance(node, ast.IfExp):
        return constants(node.body) + constants(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) else []
