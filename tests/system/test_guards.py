"""What only some systems have is used in the room that guards it, and every text is opened with its encoding."""

import ast
import re

import pytest

from support.other_system.hidden_names import HIDDEN, NO_MODULES
from test_rooms import executed, faults_of_sources, imported, parsed, statements

GUARD = "system/"
ALONE = "games/openspiel_probe.py"
"""Runs by itself, so it guards its own import of `resource`."""
SPAWNS = {f"multiprocessing.{name}" for name in ("set_start_method", "Process", "Pool", "Queue")}
"""Ways to start processes that are not the same on every system."""
ONLY_GUARDED = {f"{module}.{name}" for module, names in HIDDEN.items() for name in names} | {
    "os.kill", "os.getppid", "os.link", "os.symlink", "os.chmod", "os.umask", "os.replace", "os.rename", "os.startfile",
    "signal.CTRL_BREAK_EVENT", "signal.CTRL_C_EVENT", "signal.SIGBREAK", "signal.raise_signal", "shlex.quote",
    "shlex.join", "shlex.split", "os.readlink", "os.O_RDONLY", *SPAWNS,
}  # fmt: skip
ALLOWED = {
    ("interface/commands/__init__.py", "signal.raise_signal"): "every system has it, for the calling thread",
}
WORDS = {
    "preexec_fn": ("plugins/laboratory/soak_test.py",),
    "start_new_session": (),
    "process_group": (),
    "pass_fds": (),
    "src_dir_fd": (),
    "dst_dir_fd": (),
    "dir_fd": ("storage/run_files.py", "storage/atomic_files.py"),
}
"""{argument that POSIX alone has: the files that use it where the guard says so}"""
READS = ("read_text", "write_text")
STARTS = ("run", "Popen", "check_output", "call", "check_call")


def encodes(call, place):
    """Return whether a call names its encoding, by its word or as the argument of this place."""
    return len(call.args) > place or "encoding" in {word.arg for word in call.keywords}


def unencoded(call):
    """Return whether a call opens a text without naming its encoding: it would be another one on Windows."""
    text, name = ast.unparse(call.func), getattr(call.func, "attr", getattr(call.func, "id", ""))
    words = {word.arg: word.value for word in call.keywords}
    if name in READS:
        return not encodes(call, 1 if name == "write_text" else 0)
    if name in STARTS and ("text" in words or "universal_newlines" in words):
        return "encoding" not in words
    if text == "os.open" or name not in ("open", "fdopen", "NamedTemporaryFile", "TemporaryFile"):
        return False
    named = [words["mode"]] if "mode" in words else call.args[1:2] if text == "open" else call.args[:2]
    constants = [n.value for each in named for n in ast.walk(each) if isinstance(n, ast.Constant)]
    modes = [mode for mode in constants if re.fullmatch("[rwaxbt+]+", str(mode))]
    if any("b" in mode for mode in modes) or "Temporary" in name and not modes:
        return False
    return (bool(modes) or text in ("open", "io.open", "os.fdopen")) and not encodes(call, 3)


def faults(path, source):
    """Return (rule, what breaks it) for each rule that a source breaks."""
    found, tree = [], parsed(source)
    guarded = path.startswith(GUARD)
    for node in statements(tree.body):
        found += [("imported where it is needed", name) for name in imported(node) if name.split(".")[0] in NO_MODULES]
    for node in executed(tree):
        for name in imported(node):
            if name.split(".")[0] in NO_MODULES and not guarded and path != ALONE:
                found.append(("only the guard imports what some systems lack", name))
            if name in ONLY_GUARDED and not guarded:
                found.append(("only the guard uses what some systems lack", name))
        text = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        if text in ONLY_GUARDED and not guarded and (path, text) not in ALLOWED:
            found.append(("only the guard uses what some systems lack", text))
        if isinstance(node, ast.Constant) and str(node.value).startswith(("/proc/", "/dev/")) and not guarded:
            found.append(("only the guard knows places of one system", node.value))
        if isinstance(node, ast.Call):
            wrong = [w.arg for w in node.keywords if w.arg in WORDS and not guarded and path not in WORDS[w.arg]]
            found += [("only the guard uses what some systems lack", f"{word}=") for word in wrong]
            if unencoded(node):
                found.append(("every text is opened with its encoding", f"line {node.lineno}"))
    return found


def test_the_modules_use_what_every_system_has():
    assert faults_of_sources(faults) == []


BAD = [
    ("compiled.py", "import resource", "imported where it is needed"),
    ("system/files.py", "import fcntl", "imported where it is needed"),
    ("compiled.py", "def f():\n    import resource", "only the guard imports what some systems lack"),
    ("compiled.py", "def f():\n    from fcntl import flock", "only the guard imports what some systems lack"),
    ("compiled.py", "import os\nos.geteuid()", "only the guard uses what some systems lack"),
    ("compiled.py", "def f(os):\n    return hasattr(os, 'x') and os.sched_getaffinity(0)",
     "only the guard uses what some systems lack"),
    ("loggers.py", "from os import O_NOFOLLOW", "only the guard uses what some systems lack"),
    ("loggers.py", "def f(p):\n    os.kill(p, 0)", "only the guard uses what some systems lack"),
    ("players/gtp.py", "def f(c):\n    Popen(c, start_new_session=True)", "only the guard uses what some systems lack"),
    ("memory.py", "def f(p):\n    open(f'/proc/{p}/stat', 'rb')", "only the guard knows places of one system"),
    ("memory.py", "def f(p):\n    open(p)", "every text is opened with its encoding"),
    ("memory.py", "def f(p):\n    open(p, 'w', 1)", "every text is opened with its encoding"),
    ("memory.py", "def f(p):\n    p.open('a')", "every text is opened with its encoding"),
    ("memory.py", "def f(p):\n    p.read_text()", "every text is opened with its encoding"),
    ("memory.py", "def f(p):\n    p.write_text('x')", "every text is opened with its encoding"),
    ("memory.py", "def f(c):\n    subprocess.run(c, text=True)", "every text is opened with its encoding"),
    ("memory.py", "def f():\n    TemporaryFile('w+')", "every text is opened with its encoding"),
]  # fmt: skip


@pytest.mark.parametrize("path, source, rule", BAD)
def test_a_module_that_breaks_a_rule_is_caught(path, source, rule):
    assert rule in {broken for broken, _ in faults(path, source)}


GOOD = [
    ("system/processes.py", "import os\nos.geteuid()\ndef f():\n    import resource"),
    ("storage/run_files.py", "def f(p):\n    os.unlink(p, dir_fd=3)\n    files.open(p, 4)\n    os.open(p, 4)"),
    ("memory.py", "def f(p):\n    open(p, 'rb')\n    open(p, encoding='utf-8')\n    p.open('wb')\n    gate.open()"),
    ("memory.py", "def f(p):\n    p.read_text('utf-8')\n    run(p, text=True, encoding='utf-8')"),
    ("memory.py", "def f():\n    TemporaryFile()\n    signal.signal(signal.SIGINT, g)"),
]  # fmt: skip


@pytest.mark.parametrize("path, source", GOOD)
def test_a_module_that_keeps_the_rules_is_not_accused(path, source):
    assert faults(path, source) == []
