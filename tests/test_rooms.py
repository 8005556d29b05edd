"""The rules between modules, read from their syntax: who may import whom, and what no module does."""

import ast
import functools
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from system.plugins import Plugin, plugins

HERE = Path(__file__).parent.parent
FLOORS = [
    "languages", "system", "config", "compiling", "compiled", "game", "games", "storage", "search loggers console",
    "MCTS memory", "network", "model agent", "initialise players", "evaluation", "funcs", "training", "main",
    "interface", "plugins textbook", "alphazero_keras",
]  # fmt: skip
"""Rooms and the files of the top folder from the bottom up: each imports from floors below its own only."""
RANK = {name: floor for floor, names in enumerate(FLOORS) for name in names.split()}
UPWARD = {
    ("main.py", "interface.start"): "python main.py is the command line",
}
"""(file, module) of the imports that point up, and why; they are made when first needed."""
NETWORK = {"keras", "tensorflow", "openvino", "onnx", "onnxruntime", "ai_edge_litert", "torch", "jax"}
LATE = {"model", "network.keras_import", "network.keras_predictor", "network.openvino_predictor", "network.optimizers",
        "network.interleaved_boards", "network.openvino_graph", "network.int8", "network.training_step",
        "network.onnxruntime_predictor", "network.losses", "network.masked_layers", "network.keras_network",
        "network.onnx_graph", "network.jax_step", "network.torch_step"}  # fmt: skip
"""Modules that load Keras, OpenVINO or ONNX Runtime: nothing but these imports them at its top."""
UNSAFE = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "tarfile"}
RUNS = ("load_model", "model_from_json", "model_from_config", "enable_unsafe_deserialization", "extractall",
        "torch.load", "unpack_archive", "recv", "getstatusoutput", "getoutput")  # fmt: skip
"""Ends of names of calls that may run what they read, or write where it says; recv: of a pipe, unpickles."""
READS = (
    "compiling/cache_folder.py",
    "compiling/kept_code.py",
    "interface/commands/new_game.py",
    "languages/",
    "network/cpu_features.py",
    "plugins/doctor/installation.py",
    "plugins/notebook/widget.py",
    "plugins/page/app.py",
    "plugins/pictures/__init__.py",
    "system/",
    "training/presets.py",
)
"""What reads without a limit: files of the program or the system; and where the limited reading itself is."""
TALKS = (
    "agent.py",
    "interface/arguments.py",
    "interface/cli.py",
    "interface/commands/",
    "interface/console.py",
    "interface/puzzle_console.py",
    "loggers.py",
    "main.py",
    "textbook.py",
)
"""Besides the commands of plugins."""
AT_IMPORT = {
    "print",
    "input",
    "open",
    "mkdir",
    "touch",
    "unlink",
    "connect",
    "system",
    "Popen",
    "run",
    "urlopen",
}
AT_IMPORT |= {f"{verb}_{kind}" for verb in ("read", "write") for kind in ("text", "bytes")}
ROOMS = [path.parent.name for path in sorted(HERE.glob("*/__init__.py"))]


def sources():
    """Return the program's files: where git tells, those that it knows, and not a game of one's own beside them."""
    found = {path.relative_to(HERE).as_posix() for path in (*HERE.glob("*.py"), *HERE.glob("*/**/*.py"))}
    found = {path for path in found if "/" not in path or path.split("/")[0] in ROOMS} - {"conftest.py"}
    found = {path for path in found if "/tests/" not in path}
    if shutil.which("git") and (HERE / ".git").exists():
        known = subprocess.run(["git", "ls-files"], cwd=HERE, capture_output=True, text=True, check=False)
        found &= set(known.stdout.splitlines()) if known.returncode == 0 else found
    return sorted(found)


SOURCES = sources()


@functools.cache
def parsed(source):
    """Return the syntax of a source, which several rules read."""
    return ast.parse(source)


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def statements(body, *, types=False):
    """Yield what is executed at import: bodies of functions are not, nor, without `types`, what type checkers see."""
    for node in body:
        if is_type_checking(node) and not types:
            continue
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and "__main__" not in ast.unparse(node)[:40]:
            for inner in ("body", "orelse", "finalbody", "handlers"):
                yield from statements(getattr(node, inner, []), types=types)


def executed(tree):
    """Yield all nodes but those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if not is_type_checking(node):
            yield node
            yield from executed(node)


def imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""] + [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def calls(nodes):
    """Yield (call, name of what is called), without the bodies of functions among the nodes."""
    for node in nodes:
        for inner in ast.walk(node) if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) else ():
            if isinstance(inner, ast.Call):
                yield inner, getattr(inner.func, "attr", getattr(inner.func, "id", ""))


def upward(path, name):
    """Return whether an import points up, or sideways to another room: what is in one's own room is free."""
    own, other = path.split("/")[0].removesuffix(".py"), name.split(".")[0]
    wanted = any(path == file and f"{name}.".startswith(f"{module}.") for file, module in UPWARD)
    return other in RANK and other != own and RANK[other] >= RANK.get(own, -1) and not wanted


def of_another_plugin(path, name):
    """Return whether an import is of a plugin that may not be used here: only those that its own plugin needs."""
    words = name.split(".")
    if words[0] != "plugins" or len(words) < 2:
        return False
    own = path.split("/")
    return own[0] != "plugins" or words[1] not in (own[1], *(plugins()[own[1]].needs if own[1] in plugins() else ()))


def faults(path, source):
    """Return (rule, what breaks it) for each rule that a source breaks."""
    found, tree = [], parsed(source)
    top = [node for node in statements(tree.body) if not isinstance(node, (ast.If, ast.Try, ast.With, ast.For))]
    talks = path.startswith(TALKS) or "/commands/" in path
    own, module = path.split("/")[0].removesuffix(".py"), path.removesuffix(".py").replace("/", ".")
    if own not in RANK:
        found.append(("every module has a floor", f"{own} is on none: put it into FLOORS"))
    for node in top:
        if module not in LATE and (late := LATE.intersection(imported(node))):
            found.append(("networks are imported when first needed", f"imports {', '.join(late)}"))
    for call, name in calls(top):
        if name in AT_IMPORT:
            found.append(("nothing prints or opens files at import", f"{name} in line {call.lineno}"))
    for node in ast.walk(tree):  # also what only type checkers see
        for name in imported(node)[-1:]:
            if of_another_plugin(path, name):
                found.append((PLUGIN, f"imports {name}"))
    for node in executed(tree):
        for name in imported(node)[-1:]:
            if upward(path, name):
                found.append(("imports point down", f"imports {name}"))
        for name in imported(node):
            if name.split(".")[0] in NETWORK and own != "network":
                found.append(("only the network's modules know a network library", f"imports {name}"))
            if name.split(".")[0] == "ray" and path != "plugins/cluster/cluster.py":
                found.append(("Ray is loaded by plugins/cluster/cluster.py", f"imports {name}"))
            if name.split(".")[0] in ("numba", "llvmlite") and path != "compiling/numba_import.py":
                found.append(("numba is loaded by compiling/numba_import.py", f"imports {name}"))
            if name.split(".")[0] in UNSAFE:
                found.append(("nothing that runs what it reads", f"imports {name}"))
        if isinstance(node, ast.Call):
            found += unsafe(node)
            if unlimited(node) and not path.startswith(READS):
                found.append(("files are read with a limit (read_limited)", f"in line {node.lineno}"))
            if isinstance(node.func, ast.Name) and node.func.id == "print" and not talks:
                found.append(("only what talks to people prints", f"print in line {node.lineno}"))
    return found


def unlimited(call):
    """Return whether a call reads a file, whatever it is and however large."""
    text, name = ast.unparse(call.func), getattr(call.func, "attr", "")
    if name in ("read_text", "read_bytes", "fromfile", "genfromtxt", "loadtxt") or text == "json.load":
        return True
    if "os.devnull" in ast.unparse(call):
        return False
    if text == "os.open":
        return "O_RDONLY" in ast.unparse(call)
    literal = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    modes = [mode for mode in literal if re.fullmatch("[rbt+]+", mode)]
    return (text in ("open", "io.open") and len(call.args) == 1 and not call.keywords) or (
        text.split(".")[-1] == "open" and any(mode in ("r", "rb", "rt", "br", "tr") for mode in modes)
    )


def unsafe(call):
    """Return the fault of a call that could run what it reads."""
    words = {k.arg: k.value for k in call.keywords}
    text, rule = ast.unparse(call.func), "nothing that runs what it reads"
    if text in ("eval", "exec", "compile", "__import__", "os.system", "os.popen") or text.endswith(RUNS):
        return [(rule, f"{text} in line {call.lineno}")]
    refused = isinstance(words.get("allow_pickle"), ast.Constant) and words["allow_pickle"].value is False
    if "allow_pickle" in words and not refused or text in ("np.load", "numpy.load") and not refused:
        return [(rule, f"{text} without allow_pickle=False in line {call.lineno}")]
    if isinstance(words.get("safe_mode"), ast.Constant) and not words["safe_mode"].value:
        return [(rule, f"{text} without its safe mode in line {call.lineno}")]
    if isinstance(words.get("shell"), ast.Constant) and words["shell"].value:
        return [(rule, f"{text} with a shell in line {call.lineno}")]
    return []


def faults_of_sources(faults):
    """Return what is wrong with the program's files, a line each."""
    found = {path: faults(path, (HERE / path).read_text(encoding="utf-8")) for path in SOURCES}
    return [f"{path}: {rule}: {what}" for path, broken in found.items() for rule, what in broken]


def test_the_modules_keep_the_rules():
    assert faults_of_sources(faults) == []


def test_no_modules_import_each_other_in_a_circle_even_for_types_only():
    modules = {path.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): path for path in SOURCES}
    left = {}
    for module, path in modules.items():
        body = statements(parsed((HERE / path).read_text(encoding="utf-8")).body, types=True)
        left[module] = {name for node in body for name in imported(node) if name in modules} - {module}
    while free := {module for module, needs in left.items() if not needs & left.keys()}:
        left = {module: needs for module, needs in left.items() if module not in free}
    assert left == {}


def test_no_arrow_of_the_drawing_points_upwards():
    """docs/imports.svg has the core below, the plugins above, and each box above what it imports, however late."""
    spec = importlib.util.spec_from_file_location("import_picture", HERE / "docs" / "import_picture.py")
    drawing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawing)
    graph = drawing.arrows()
    rows = drawing.levels(graph)  # ends the program where imports form a circle
    assert drawing.upward() == [] and {"agent", "search", "interface"} < rows.keys()
    assert all(rows[box] > rows[target] for box, targets in graph.items() for target in targets)


def test_the_top_folder_holds_what_a_reader_expects_there():
    named = {"MCTS", "agent", "config", "funcs", "game", "initialise", "loggers", "main", "memory", "model"}
    assert {path.removesuffix(".py") for path in SOURCES if "/" not in path} == named | {"compiled", "textbook"}


def test_no_two_files_of_tests_have_one_name():
    """Pytest refuses the second one, where both are run."""
    names = [path.name for room in ("tests", "plugins", "benchmarks") for path in (HERE / room).rglob("test_*.py")]
    assert [name for name in {*names} if names.count(name) > 1] == []


def test_every_room_says_what_lives_there():
    rooms = [path for path in SOURCES if path.endswith("/__init__.py")]
    assert {path.split("/")[0] for path in rooms} == {name for name in RANK if (HERE / name).is_dir()} == set(ROOMS)
    for path in rooms:
        assert ast.get_docstring(ast.parse((HERE / path).read_text(encoding="utf-8"))), path


def test_the_modules_are_found():
    assert {"MCTS.py", "games/connect4.py", "search/speed/prefetch.py", "interface/commands/train.py"} <= set(SOURCES)


PLUGIN = "the core uses no plugin, and a plugin those that it says"
SOME = {"page": Plugin("a page", needs=("pictures",)), "engines": Plugin("engines")}
BAD = [
    ("search/simulate.py", "import agent", "imports point down"),
    ("search/simulate.py", "from MCTS import Node", "imports point down"),
    ("search/simulate.py", "def f():\n    from MCTS import Node", "imports point down"),
    ("games/other.py", "try:\n    from training import stages\nexcept ImportError:\n    pass", "imports point down"),
    ("agent.py", "import model", "imports point down"),
    ("interface/cli.py", "def f():\n    from textbook import MCTS", "imports point down"),
    ("funcs.py", "from model import Residual_CNN", "networks are imported when first needed"),
    ("interface/cli.py", "from network import openvino_predictor", "networks are imported when first needed"),
    ("network/predictor.py", "from network.keras_import import keras", "networks are imported when first needed"),
    ("agent.py", "def f():\n    import keras", "only the network's modules know a network library"),
    ("agent.py", "from tensorflow.python import eager", "only the network's modules know a network library"),
    ("game.py", "from numba import types", "numba is loaded by compiling/numba_import.py"),
    ("compiled.py", "import numba", "numba is loaded by compiling/numba_import.py"),
    ("compiling/records.py", "import compiled", "imports point down"),
    ("plugins/cluster/pool.py", "def f():\n    import ray", "Ray is loaded by plugins/cluster/cluster.py"),
    ("stranger.py", "", "every module has a floor"),
    ("config.py", "log = open('x')", "nothing prints or opens files at import"),
    ("interface/cli.py", "if True:\n    print('loaded')", "nothing prints or opens files at import"),
    ("storage/run_store.py", "import os\nos.mkdir('run')", "nothing prints or opens files at import"),
    ("memory.py", "def f():\n    print('x')", "only what talks to people prints"),
    ("storage/run_store.py", "import pickle", "nothing that runs what it reads"),
    ("storage/run_store.py", "def f():\n    from pickle import loads", "nothing that runs what it reads"),
    ("storage/run_store.py", "def f(a):\n    return np.load(a, allow_pickle=True)", "nothing that runs what it reads"),
    ("storage/run_store.py", "def f(a):\n    return np.load(a)", "nothing that runs what it reads"),
    ("config.py", "def f(text):\n    return eval(text)", "nothing that runs what it reads"),
    ("model.py", "def f(path):\n    return keras.models.load_model(path)", "nothing that runs what it reads"),
    ("config.py", "def f(x):\n    subprocess.call(x, shell=True)", "nothing that runs what it reads"),
    ("config.py", "import yaml", "nothing that runs what it reads"),
    ("storage/run_store.py", "def f():\n    import tarfile", "nothing that runs what it reads"),
    ("storage/run_store.py", "def f(z):\n    z.extractall()", "nothing that runs what it reads"),
    ("model.py", "def f(x):\n    return torch.load(x)", "nothing that runs what it reads"),
    ("model.py", "def f(x):\n    return keras.models.model_from_json(x)", "nothing that runs what it reads"),
    ("model.py", "def f(x):\n    return saving.load(x, safe_mode=False)", "nothing that runs what it reads"),
    ("model.py", "keras.config.enable_unsafe_deserialization()", "nothing that runs what it reads"),
    ("training/worker_pool.py", "def f(pipe):\n    return pipe.recv()", "nothing that runs what it reads"),
    ("players/book.py", "def f(path):\n    return path.read_text()", "files are read with a limit (read_limited)"),
    ("memory.py", "def f(path):\n    return open(path, 'rb')", "files are read with a limit (read_limited)"),
    ("memory.py", "def f(path):\n    return open(path).read()", "files are read with a limit (read_limited)"),
    ("loggers.py", "def f(path):\n    return path.open('r')", "files are read with a limit (read_limited)"),
    ("players/by_name.py", "def f():\n    from plugins.engines import gtp", PLUGIN),
    ("agent.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from plugins.page import app", PLUGIN),
    ("plugins/engines/gtp.py", "from plugins.page import app", PLUGIN),
    ("plugins/nobody/file.py", "from plugins.page import app", PLUGIN),
]


@pytest.mark.parametrize("path, source, rule", BAD)
def test_a_module_that_breaks_a_rule_is_caught(path, source, rule, monkeypatch):
    monkeypatch.setattr("test_rooms.plugins", lambda: SOME)
    assert rule in {broken for broken, _ in faults(path, source)}


GOOD = [
    ("plugins/page/app.py", "from plugins.pictures import drawing_asset\nfrom plugins.page import pools"),
    ("interface/cli.py", "import config\nfrom config import Config\nimport numpy\n\n\ndef f():\n    print(1)"),
    ("funcs.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from training import stages"),
    ("model.py", "from network.keras_import import keras\nfrom memory import Batch"),
    ("network/choose_predictor.py", "def f():\n    from network.keras_predictor import KerasPredictor"),
    ("network/keras_import.py", "import keras"),
    ("main.py", "if __name__ == '__main__':\n    print(1)"),
    ("loggers.py", "def f(path):\n    open(path, 'ab').write(b'x')\n    return open_regular(path), Session.open(path)"),
    ("model.py", "def f(model):\n    model.compile()\n    return np.load(1, allow_pickle=False)"),
]


@pytest.mark.parametrize("path, source", GOOD)
def test_a_module_that_keeps_the_rules_is_not_accused(path, source, monkeypatch):
    monkeypatch.setattr("test_rooms.plugins", lambda: SOME)
    assert faults(path, source) == []
