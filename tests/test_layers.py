"""The rules between modules, read from their syntax: who may import whom, and what no module does."""

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent
LAYERS = [
    "processor", "config failpoints rating arrays interrupts", "files league", "loggers database",
    "compiled storage backends gate aligned", "game", "games openings duplicates schedule", "cache endgame held",
    "forest", "asking priors", "chance solving", "selection", "gumbel", "kernels",
    "rollouts nodes pruning targets minimax",
    "MCTS turns", "selfplay", "pool memory", "processes", "optimizers interleaved", "model averaging", "choices",
    "agent", "players", "conformance funcs", "versions growing", "runs sgf", "workers levels", "exact ladder",
    "scoreboard", "evaluation", "initialise records arguments",
    "stages scoring lineup explain budget bench exchange drawing", "verification", "doctor shipping", "recovery",
    "soak", "console position turnfile curves", "widget", "viewer web", "commands", "cli main",
]  # fmt: skip
RANK = {name: i for i, layer in enumerate(LAYERS) for name in layer.split()}
NETWORK = {"keras", "tensorflow", "openvino", "onnx", "onnxruntime", "torch", "jax"}
NETWORKS = {"model.py", "network/optimizers.py", "network/interleave.py"}
LATE = {"model", "optimizers", "interleaved", "backends.compiled_keras", "backends.openvino_cpu"}
UNSAFE = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "tarfile"}
RUNS = ("load_model", "model_from_json", "model_from_config", "enable_unsafe_deserialization", "extractall",
        "torch.load", "unpack_archive", "recv", "getstatusoutput", "getoutput")  # fmt: skip
"""Ends of names of calls that may run what they read, or write where it says; recv: of a pipe, unpickles."""
TALKS = {"agent.py", "interface/cli.py", "interface/console.py", "loggers.py", "main.py"}
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
PATTERNS = "*.py", "games/*.py", "backends/*.py", "players/*.py", "web/*.py", "doctor/*.py", "commands/*.py"


def sources():
    """Return the program's files: where git tells, those that it knows, and not a game of one's own beside them."""
    found = {path.relative_to(HERE).as_posix() for pattern in PATTERNS for path in HERE.glob(pattern)}
    if shutil.which("git") and (HERE / ".git").exists():
        known = subprocess.run(["git", "ls-files"], cwd=HERE, capture_output=True, text=True, check=False)
        found &= set(known.stdout.splitlines()) if known.returncode == 0 else found
    return sorted(found)


SOURCES = sources()


def statements(body):
    """Yield what is executed at import: bodies of functions are not, nor what only type checkers see."""
    for node in body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        for inner in ("body", "orelse", "finalbody", "handlers"):
            if (
                not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
                and "__main__" not in ast.unparse(node)[:40]
            ):
                yield from statements(getattr(node, inner, []))


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


def faults(path, source):
    """Return (rule, what breaks it) for each rule that a source breaks."""
    found, tree = [], ast.parse(source)
    top = [
        node for node in statements(tree.body) if not isinstance(node, (ast.If, ast.Try, ast.With, ast.For))
    ]
    own = path.split("/")[0].removesuffix(".py")
    for node in top:
        for name in imported(node):
            first = name.split(".")[0]
            if first in RANK and first != own and RANK[first] >= RANK.get(own, -1):
                found.append(("imports point down the layers", f"imports {name}"))
            if name in LATE and path != "model.py":
                found.append(("networks are imported when first needed", f"imports {name}"))
            if first in NETWORK and path == "backends/__init__.py":
                found.append(("networks are imported when first needed", f"imports {name}"))
    if own not in RANK:
        found.append(("every module has a layer", f"{own} is in none: put it into LAYERS"))
    for call, name in calls(top):
        if name in AT_IMPORT:
            found.append(("nothing prints or opens files at import", f"{name} in line {call.lineno}"))
    for node in ast.walk(tree):
        for name in imported(node):
            if name.split(".")[0] in NETWORK and path not in NETWORKS and own != "backends":
                found.append(("only the network's modules know a network library", f"imports {name}"))
            if name.split(".")[0] in UNSAFE:
                found.append(("nothing that runs what it reads", f"imports {name}"))
        if isinstance(node, ast.Call):
            found += unsafe(node)
            if isinstance(node.func, ast.Name) and node.func.id == "print" and path not in TALKS and own != "commands":
                found.append(("only what talks to people prints", f"print in line {node.lineno}"))
    return found + too_long(source)


def too_long(source):
    lines = len(source.splitlines())
    return [("a file has at most 400 lines", f"{lines} lines")] if lines > 400 else []


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


@pytest.mark.parametrize("path", SOURCES)
def test_a_module_keeps_the_rules(path):
    found = faults(path, (HERE / path).read_text(encoding="utf-8"))
    assert not found, "\n" + "\n".join(f"{path}: {rule}: {what}" for rule, what in found)


def test_a_file_of_tests_is_no_longer_than_a_module():
    files = sorted((HERE / "tests").glob("*.py"))
    assert len(files) > 20
    for path in files:
        assert too_long(path.read_text(encoding="utf-8")) == [], path.name


def test_the_modules_are_found():
    assert {"MCTS.py", "model.py", "games/connect4.py", "backends/__init__.py", "players/uct.py"} <= set(
        SOURCES
    )


BAD = [
    ("search/simulate.py", "import agent", "imports point down the layers"),
    ("search/simulate.py", "from MCTS import Node", "imports point down the layers"),
    (
        "games/other.py",
        "try:\n    import stages\nexcept ImportError:\n    pass",
        "imports point down the layers",
    ),
    ("interface/explain.py", "import lineup", "imports point down the layers"),
    ("funcs.py", "from model import Residual_CNN", "networks are imported when first needed"),
    ("interface/cli.py", "from backends import openvino_cpu", "networks are imported when first needed"),
    ("backends/__init__.py", "import keras", "networks are imported when first needed"),
    ("agent.py", "def f():\n    import keras", "only the network's modules know a network library"),
    ("agent.py", "from tensorflow.python import eager", "only the network's modules know a network library"),
    ("stranger.py", "", "every module has a layer"),
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
    ("config.py", "x = 1\n" * 401, "a file has at most 400 lines"),
]


@pytest.mark.parametrize("path, source, rule", BAD)
def test_a_module_that_breaks_a_rule_is_caught(path, source, rule):
    assert rule in {broken for broken, _ in faults(path, source)}


GOOD = [
    (
        "interface/cli.py",
        "import config\nfrom config import Config\nimport numpy\n\n\ndef f():\n    import stages\n    print(1)",
    ),
    ("funcs.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from initialise import Session"),
    ("model.py", "import keras\nfrom memory import Batch"),
    (
        "backends/__init__.py",
        "def f():\n    import keras\n    from backends.compiled_keras import KerasPredictor",
    ),
    ("main.py", "if __name__ == '__main__':\n    print(1)"),
    ("model.py", "def f(model):\n    model.compile()\n    return np.load(1, allow_pickle=False)"),
]


@pytest.mark.parametrize("path, source", GOOD)
def test_a_module_that_keeps_the_rules_is_not_accused(path, source):
    assert faults(path, source) == []
