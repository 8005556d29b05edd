"""The program installed as a package: a wheel is built, installed, and used in an empty folder outside the checkout.

The environment borrows the packages that are installed here; pip fetches what builds the wheel.
"""

import ast
import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from compiling import ready_code
from config import VERSION
from system.import_names import own_names

HERE = Path(__file__).parents[2]
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", (HERE / "docs" / "python.md").read_text(), re.MULTILINE | re.DOTALL)
PATIENCE = 600
"""Seconds that a command may take: the first one compiles the search."""
MINE = ("config", "game", "games", "memory", "model", "agent", "search")
"""Names that files of people have, and files of this program."""


def environment():
    """Return the variables of a person's shell: nothing of the tests leads to the checkout."""
    ours = ("ALPHAZERO_", "PYTEST_", "PYTHON", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(HERE)]
    subprocess.run(command, check=True, timeout=PATIENCE, cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def scripts(wheel, tmp_path_factory):
    """Return the folder of the commands of an environment in which the wheel is installed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    places = sysconfig.get_paths("venv", vars={"base": str(folder), "platbase": str(folder)})
    Path(places["purelib"], "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    python = Path(places["scripts"], "python")
    install = ["install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *install], check=True, timeout=PATIENCE)
    return Path(places["scripts"])


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Return a folder of a person's own, with files of the names that modules of the program have."""
    folder = tmp_path_factory.mktemp("desk")
    for name in MINE:
        (folder / f"{name}.py").write_text(f"raise SystemExit('this is the {name}.py of somebody else')\n")
    return folder


@pytest.fixture(scope="module")
def alphazero(scripts, desk):
    def run(*words, typed="", code=0):
        """Run the command; return what it prints."""
        done = subprocess.run([str(scripts / "alphazero"), *words], cwd=desk, env=environment(), input=typed, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)  # fmt: skip
        assert done.returncode == code, done.stdout[-3000:]
        return done.stdout

    return run


# ---- what is in the wheel


def sources(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.endswith(".py")]
        return {name: archive.read(name).decode() for name in names}


def test_the_wheel_has_one_package_with_the_program_and_its_players(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"alphazero_keras", f"alphazero_keras-{VERSION}.dist-info"}
    found = {"/".join(name.split("/")[1:]) for name in names}
    listed = subprocess.run(["git", "ls-files"], cwd=HERE, capture_output=True, text=True, check=False)
    known = listed.stdout.split("\n")
    of_rooms = [name for name in known if name.split("/")[0] in own_names() and "/tests/" not in name]
    assert set(of_rooms) <= found
    assert {f"{runs}/connect4/run0001/run.db" for runs in ("run_archive", "early_versions")} <= found
    assert {"requirements-web.txt", "py.typed", "__main__.py"} <= found
    assert not [name for name in found if name.split("/")[0] in ("tests", "benchmarks", "docs", "distribution")]


def test_no_import_in_it_means_a_module_outside_the_package(wheel):
    for name, text in sources(wheel).items():
        for node in ast.walk(ast.parse(text)):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert not [module for module in modules if module.split(".")[0] in own_names()], name


def test_no_text_of_the_program_names_a_module_as_in_a_checkout():
    """A name in a text is not rewritten: it has to be made from `__name__` or `PREFIX`."""
    rooms = [name for name in own_names() if (HERE / name).is_dir()]
    for path in (path for room in rooms for path in (HERE / room).rglob("*.py") if "tests" not in path.parts):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        after = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values[1:]}
        for node in nodes:
            whole = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in after
            text = node.value if whole else ""
            if re.fullmatch(rf"({'|'.join(rooms)})(\.\w+)+\.?", text):
                file = HERE / text.rstrip(".").replace(".", "/")
                assert not (file.is_dir() or file.with_suffix(".py").exists()), f"{path.name}: {text}"


def test_its_texts_name_the_command(wheel):
    assert not [name for name, text in sources(wheel).items() if "python main.py" in text]


# ---- the command


def test_the_command_shows_its_help_and_version(alphazero):
    assert alphazero("--help").startswith("usage: alphazero [COMMAND]")
    assert alphazero("--version") == f"alphazero-keras {VERSION}\n"
    assert "alphazero explain --moves 4453" in alphazero("explain", "--help")


# Code ships for the systems on which it was made and tried; elsewhere a wheel compiles all.
@pytest.mark.skipif(not ready_code.SHIPS, reason=f"no code ships for {ready_code.SYSTEM}")
def test_the_code_that_ships_fits_the_package(alphazero, scripts):
    """What is compiled keeps the functions that it calls, too; of what ships there is one file each."""
    done = json.loads(alphazero("prepare", "--game", "tictactoe", "--json").splitlines()[-1])
    package = next(scripts.parent.rglob("alphazero_keras/__main__.py")).parent
    ships = {path.name.rpartition("-")[0] for path in ready_code.FOLDER.iterdir()}
    names = [path.name.rpartition("-")[0] for path in package.rglob("*.nbc")]
    assert len(names) == done["compiled"] > 30
    assert not [name for name in names if not any(f".{each}".endswith(f".{name}") for each in ships)]


def test_it_trains_with_workers_into_the_working_folder_and_plays(alphazero, desk):
    said = alphazero("--preset", "tiny", "--new", "--iterations", "1", "--episodes", "16", "--workers", "1")
    assert "play: `alphazero play --game" in said
    assert (desk / "run" / "tictactoe" / "run0001" / "run.db").exists()
    assert "is undamaged" in alphazero("verify", "--game", "tictactoe")
    said = alphazero("play", "--game", "tictactoe", "--against", "run0001:current", "--sims", "8", typed="b2\nresign\n")
    assert "run0001:version0000 plays" in said


def test_it_explains_a_position_by_the_player_that_ships(alphazero):
    found = json.loads(alphazero("explain", "--game", "tictactoe", "--player", "shipped", "--sims", "30", "--json"))
    assert found["player"].startswith("shipped") and found["simulations"] == 30


def test_it_serves_the_page(scripts, desk):
    pytest.importorskip("starlette")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(scripts / "alphazero"), "serve", "--no-open", "--port", str(port)]
    with subprocess.Popen(command, cwd=desk, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            address = re.search(r"http://\S+", process.stdout.readline())[0]
            keeping_cookies = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            with keeping_cookies.open(address, timeout=60) as page:
                assert page.status == 200 and b"AlphaZero" in page.read()
        finally:
            process.send_signal(signal.SIGTERM)


def test_a_game_of_ones_own_is_written_tested_and_learned(alphazero, desk):
    said = alphazero("new-game", "my_game")
    assert "\nalphazero check my_game.py:MyGame\n" in said
    assert "from game import" in (desk / "my_game.py").read_text()
    alphazero("check", "my_game.py:MyGame", "--games", "5")
    tiny = ("--preset", "tiny", "--new", "--iterations", "1", "--episodes", "4", "--workers", "1")
    alphazero("--game", "my_game.py:MyGame", *tiny)
    (desk / "bad.py").write_text("import (\n")
    assert "error: bad.py, line 1: SyntaxError" in alphazero("check", "bad.py", code=2)
    (desk / "near.py").write_text("import game\nfrom games.plain import PlainGame\nfrom rest import SIZE\n")
    (desk / "rest.py").write_text("SIZE = 4\n")
    text = (desk / "my_game.py").read_text()
    assert "from games.plain import PlainGame\n" in text and "size: int = 5" in text
    text = text.replace("from games.plain import PlainGame\n", "from near import SIZE, PlainGame\n")
    (desk / "two_files.py").write_text(text.replace("size: int = 5", "size: int = SIZE"))
    assert "two_files.py:MyGame: no fault" in alphazero("check", "two_files.py:MyGame", "--games", "5")


# ---- the door


def test_the_package_serves_no_name_of_anybody_else(scripts, tmp_path):
    code = f"from importlib.util import find_spec; print([n for n in {sorted(own_names())} if find_spec(n)])"
    command = [str(scripts / "python"), "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_of_the_guide_runs_next_to_files_of_the_same_names(scripts, desk, number):
    short = EXAMPLES[number].replace("minutes=1", "iterations=2, episodes=32").replace("sims=400", "sims=20")
    script = desk / f"example{number}.py"
    script.write_text(short)
    command = [str(scripts / "python"), script.name]
    done = subprocess.run(command, cwd=desk, env=environment(), capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and done.stdout, done.stderr[-3000:]


# ---- the notebook for machines of others


def cells_of(name, **parameters):
    """Return the code of a notebook as a script, with these parameters, without the cell that installs."""
    cells = {
        cell["id"]: "".join(cell["source"])
        for cell in json.loads((HERE / name).read_text())["cells"]
        if cell["cell_type"] == "code"
    }
    names = set(re.findall(r"\b[A-Z][A-Z_]+\b(?=.* = )", cells["parameters"]))
    assert set(parameters) < names, names
    changed = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
    rest = [text for name, text in cells.items() if name not in ("parameters", "install")]
    return "\n".join([cells["parameters"], changed, *rest])


def test_the_notebook_for_colab_resumes_what_it_kept_after_its_machine_is_lost(scripts, tmp_path):
    kept, machines = tmp_path / "drive" / "alphazero.tar", []
    for number, minutes in enumerate((1000, 0.01)):
        machines.append(tmp_path / f"machine{number}")
        machines[-1].mkdir()
        script = cells_of("colab.ipynb", GAME="tictactoe", MINUTES=minutes, KEEP_EVERY=1)
        (machines[-1] / "notebook.py").write_text(script)
        command = [str(scripts / "python"), "notebook.py"]
        variables = {**environment(), "DRIVE": str(kept.parent)}
        with subprocess.Popen(command, cwd=machines[-1], env=variables, stdout=subprocess.PIPE, text=True) as process:
            if number == 0:
                for _ in range(10 * PATIENCE):
                    if kept.exists() or process.poll() is not None:
                        break
                    time.sleep(0.1)
                process.kill()
            said = process.communicate(timeout=PATIENCE)[0]
    assert "new run tictactoe/run0001, iteration 1" not in said
    resumed = re.search(r"resuming tictactoe/run0001, iteration (\d+)", said)
    assert resumed and int(resumed[1]) > 1 and " won, " in said
    lines = (machines[1] / "runs" / "tictactoe" / "run0001" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == list(range(1, len(lines) + 1))
    assert len(lines) == int(resumed[1]) - 1, "the second machine's minutes are over: it plays with what was kept"
