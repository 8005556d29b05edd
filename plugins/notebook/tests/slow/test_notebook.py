"""run.ipynb is executed as a person would, with a small run, and shows what it is committed with, numbers aside."""

import base64
import json
import os
import re
from pathlib import Path

import pytest

from support.tiny_runs import IN_NUMPY

HERE = Path(__file__).parents[4]
NOTEBOOK = HERE / "run.ipynb"
PARAMETERS = {
    "PRESET": "tiny",
    "GAME": "tictactoe",
    "ITERATIONS": 2,
    "CONNECT4": {"iterations": 1},
    "SIMS": 30,
    "POSITION": "b2",
    "OVERRIDES": {
        "episodes": 12, "games_in_flight": 6, "mcts_sims": 16, "fast_sims": 8, "min_memory": 10,
        "batch_size": 16, "hidden_cnn_layers": ["8x3", "8x3"], "value_units": 8, "training_loops": 2,
        "eval_every": 1, "eval_episodes": 4, "eval_sims": 8, "cache_size": 1024,
    },
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """What reads and runs notebooks is loaded here: it takes seconds, and each process of the tests reads this file."""
    global nbformat, NotebookClient, start_new_kernel
    import nbformat
    from jupyter_client.manager import start_new_kernel
    from nbclient import NotebookClient


@pytest.fixture
def kernels_at(tmp_path, monkeypatch):
    """Kernels keep their files in the test's folder."""
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    return tmp_path


def notebook(root, twice=(), only=None, **changes):
    """Return run.ipynb with its parameters replaced as papermill does; cells named in `twice` come twice.

    only: the cells to run, all if it is None; those of the parameters are among them.
    """
    nb = nbformat.read(NOTEBOOK, as_version=4)
    values = {**PARAMETERS, "ROOT": str(root), **changes}
    source = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    injected = nbformat.v4.new_code_cell(source)
    cells = []
    for cell in nb.cells:
        if only is None or cell.id in ("parameters", "more", *only):
            cells += [cell] + [nbformat.from_dict({**cell, "id": cell.id + "-again"})] * (cell.id in twice)
        cells += [injected] * (cell.id == "more")
    nb.cells = cells
    return nb


def client(nb):
    return NotebookClient(nb, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(HERE)}})


def execute(nb):
    """Run a notebook; return {cell id: its outputs}."""
    client(nb).execute(env=dict(os.environ))
    return {cell.id: cell.outputs for cell in nb.cells if cell.cell_type == "code"}


def shown(outputs, kind):
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


def text(outputs):
    return "".join(output.get("text", "") for output in outputs)


def test_the_committed_notebook_reads_without_a_kernel():
    nb = nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)
    nbformat.validate(nb)
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    assert nb.nbformat == 4 and len({cell.id for cell in nb.cells}) == len(nb.cells)
    assert nb.metadata.kernelspec.name == "python3" and NOTEBOOK.stat().st_size < 500_000
    assert code[0].metadata["tags"] == ["parameters"] and len(code[0].source.splitlines()) <= 4, "what one changes"
    assert code[1].metadata["jupyter"] == {"source_hidden": True}, "the rest is folded"
    names = set(re.findall(r"\b([A-Z][A-Z_0-9]*)(?:, [A-Z]+)? = ", code[0].source + code[1].source)) | {"GAME"}
    assert set(PARAMETERS) < names, names
    assert all(len(cell.source.splitlines()) <= 12 for cell in code), "a notebook holds no logic"
    silent = {cell.id for cell in code if not cell.outputs}
    assert silent == {"parameters", "more", "imports", "board"}, "all others show something"
    figures = [png for cell in code for output in cell.outputs if (png := output.get("data", {}).get("image/png"))]
    assert len(set(figures)) == len(figures) == 3, "each figure once: two trainings, and the layers"
    text = NOTEBOOK.read_text(encoding="utf-8")
    folders = {"/home/", "/tmp/", "/root/", *(f"{each}/" for each in (Path.home(), *NOTEBOOK.parents[:-1]))}
    assert [folder for folder in folders if folder in text] == []
    assert not re.search(r"[A-Z]:\\\\|Traceback", text)
    assert not any(output.output_type == "error" for cell in code for output in cell.outputs)


WORDS = ("shipped", "loop", "network", "config", "match", "rollouts", "hint")
"""Cells whose words are those of the committed notebook, whatever was learned."""


def kinds(outputs):
    """Return the kinds of data of each output, of text in pieces once."""
    found = [tuple(sorted(output.get("data", {"text": 0}))) for output in outputs if output.get("name") != "stderr"]
    return [kind for i, kind in enumerate(found) if kind != ("text",) or found[i - 1 : i] != [kind]]


def words(outputs):
    """Return the words that are displayed, without numbers, names of moves and what is drawn."""
    pieces = [text([output]) or output.data.get("text/html") or output.data["text/plain"] for output in outputs]
    seen = re.sub(r"(?s)<svg.*?</svg>|<[^>]+>|&\w+;", " ", " ".join(pieces))
    return {word for word in re.findall(r"[A-Za-z]{3,}", seen)}


def corrected(html):
    """Check the story that begins the notebook: the network likes a wrong move, the search proves that another wins."""
    cells = [re.findall(r"<td[^>]*>(?:<b>)?([^<]+)", row) for row in html.split("<tr data-hover")[1:]]
    prior = {row[0]: float(row[2]) for row in cells}
    assert cells[0][0] == "5" and "search +1.000" in html and prior["5"] < 0.1
    assert max(prior, key=prior.get) == "1" and prior["1"] > 0.4 and re.search("network -0.[3-7]", html)


def compare(out):
    """Compare what is displayed with the committed notebook, numbers aside."""
    nb = nbformat.read(NOTEBOOK, as_version=4)
    stored = {cell.id: cell.outputs for cell in nb.cells if cell.cell_type == "code" and cell.outputs}
    assert {cell: kinds(out[cell]) for cell in stored} == {cell: kinds(outputs) for cell, outputs in stored.items()}
    for cell in WORDS:
        lost = words(stored[cell]) - words(out[cell])
        assert not lost, (cell, lost)
    assert {"differ", "default", "episodes"} <= words(stored["settings"]) & words(out["settings"])


def test_the_notebook_shows_what_it_is_committed_with_and_goes_on_with_the_same_run(kernels_at):
    out = execute(notebook(kernels_at, twice=("session",)))
    assert shown(out["session"], "text/plain") == ["new run tictactoe/run0001, iteration 1"]
    resumed = shown(out["session-again"], "text/plain")
    assert resumed == ["resuming tictactoe/run0001, iteration 1"], "closed and opened again"
    compare(out)
    for wrong in ({"tree": out["match"]}, {"shipped": out["move"]}, {"config": out["settings"]}):
        with pytest.raises(AssertionError):
            compare({**out, **wrong})
    corrected(shown(out["shipped"], "text/html")[0])
    for cell, iteration in (("train", "2"), ("train4", "1")):
        assert len(out[cell]) == 2, "words and curves, each in one place"
        said, picture = out[cell]
        assert said.data["text/plain"].splitlines()[-1].split()[:2] == [iteration, "12"]
        for png in (picture.data["image/png"], *shown(out["layers"], "image/png")):
            assert base64.b64decode(png).startswith(b"\x89PNG")
    assert shown(out["versions"], "image/svg+xml")[0].count("Tic-tac-toe, 3 rows, 3 columns") == 3, "versions 0, 1, 2"
    assert shown(out["tree"], "image/svg+xml")[0].count('class="tree-picture"') == 5, "after 1, 4, 16, 64 and 128"
    board = out["board"][0].data
    assert "application/vnd.jupyter.widget-view+json" in board or "pip install anywidget" in board["text/html"]
    for cell in ("move", "undo"):
        assert shown(out[cell], "text/html")[0].count('aria-label="Connect 4, 5 rows, 6 columns"') == 1
    assert "expected a move" not in shown(out["move"], "text/html")[0]
    assert shown(out["hint"], "text/html")[0].count("</b></td>") == 6, "a line for each move"
    folded = {cell: shown(out[cell], "text/html")[0] for cell in ("settings", "config", "weights")}
    assert all(html.startswith("<details><summary>") for html in folded.values())
    assert "&quot;game&quot;: &quot;tictactoe&quot;" in folded["config"] and "mean |w|" in folded["weights"]
    assert "Elo" in text(out["match"]) and "even" in text(out["match"]) and "your network" in text(out["rollouts"])

    out = execute(notebook(kernels_at, only=("imports", "session", "train", "session4", "train4"), ITERATIONS=3))
    assert shown(out["session"], "text/plain") == ["resuming tictactoe/run0001, iteration 3"]
    metrics = (kernels_at / "tictactoe" / "run0001" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in metrics] == [1, 2, 3], "a larger ITERATIONS makes a run longer"
    runs = sorted(path.name for path in kernels_at.glob("*/run*"))
    assert runs == ["run0001", "run0001", "run0002"], "a finished run of Connect 4 is followed by another"


def test_an_interrupted_training_cell_goes_on_when_it_is_run_again(kernels_at):
    """Interrupted as soon as it says that it plays, when most of its many games are still to be played."""
    nb = notebook(kernels_at, ITERATIONS=1000, OVERRIDES={**PARAMETERS["OVERRIDES"], "episodes": 10_000})
    code = {cell.id: cell.source for cell in nb.cells if cell.cell_type == "code"}
    train = code["train"]
    first = list(code.values())[: list(code).index("train")]
    environment = {**os.environ, "PYTHONPATH": IN_NUMPY}
    manager, kernel = start_new_kernel(kernel_name="python3", cwd=str(HERE), env=environment)

    def interrupt(message):
        """Stop the cell, once, when it says that games are played."""
        if "self-play" in str(message["content"].get("data", "")) and not stopped:
            stopped.append(manager.interrupt_kernel())

    def run(source, hook=lambda message: None):
        return kernel.execute_interactive(source, timeout=300, output_hook=hook)["content"]

    stopped = []
    try:
        assert [run(source)["status"] for source in first] == ["ok"] * len(first)
        assert run(train, interrupt)["ename"] == "KeyboardInterrupt"
        assert run(train.replace("session,", "session, iterations=1,"))["status"] == "ok"
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)
    lines = (kernels_at / "tictactoe" / "run0001" / "metrics.jsonl").read_text().splitlines()
    metrics = [json.loads(line) for line in lines]
    assert [m["iteration"] for m in metrics] == list(range(1, len(metrics) + 1))
    assert {m["self_play_games"] for m in metrics} == {10_000}
