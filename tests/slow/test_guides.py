"""README and the guides: commands and examples run, outputs are those shown, metrics.jsonl is described in full.

Commands are first parsed as they stand, then run in this process with a tiny trained run of tic-tac-toe: SMALLER says
what makes each of them quick. NOT_RUN names those that are parsed only. A command whose output stands below it is run
as it stands, with the players that ship. What they are said to be is looked up in tests/test_claims.py.
"""

import contextlib
import dataclasses
import functools
import io
import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

import games
from config import FIELDS, differences, with_overrides
from initialise import Session
from interface.arguments import HELP, base_of, parse
from interface.cli import run
from interface.commands import COMMANDS, module
from loggers import read_metrics
from main import train
from network import device
from players.by_name import run_folder
from storage import run_folders
from storage.game_exchange import export_games, read_games
from support.tiny_runs import QUIET, tiny
from training.import_games import import_games
from training.iteration_table import heading, row
from training.presets import preset

pytestmark = pytest.mark.keras

HERE = Path(__file__).parents[2]
DOCS = sorted((HERE / "docs").glob("*.md"))
LINKED = [*DOCS, *sorted((HERE / "docs" / "zh").glob("*.md")), *sorted(HERE.glob("README*.md"))]
GUIDES = [path for path in DOCS if path.name != "README.md"]
WHOLE = (HERE / "plugins").is_dir()
"""Without plugins a guide's other commands are looked at."""
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = {
    r"pip install": "changes the environment",
    r"\. \.venv/bin/activate|python3\.12 -m venv": "changes the shell; tests/test_setup.py runs train.sh",
    r"bash tests/run\.sh": "runs this test",
    r"\S+/jupyter": "needs a browser; plugins/notebook/tests/slow/test_notebook.py runs the notebook",
    r"python textbook\.py": "takes a minute; tests/slow/test_textbook_loop.py runs it alone",
    r"ssh|scp": "needs another machine",
    r"curl": "needs the page's server; plugins/page/tests/test_interface.py makes such requests",
    r".* serve": "needs a browser; plugins/page/tests/slow/test_serve.py",
    r".* --workers 2": "starts processes; tests/slow/training/test_workers.py",
    r".* soak": "takes minutes; tests/slow/training/test_kills.py and tests/storage/ make its faults",
    r".* bench": "measures for seconds; tests/slow/training/test_bench.py",
    r".* doctor": "measures for half a minute; plugins/doctor/tests/slow/test_doctor.py",
    r".* gtp:gnugo": "needs another program; plugins/engines/tests/test_gtp.py",
    r"(PYTHONPATH=\S+ )?ray|export RAY_": "needs other machines",
    r".* (experiment|report)": "trains for minutes; plugins/experiment/tests/slow/test_experiment.py",
    r".* export-page": "needs a linker; plugins/browser/tests/outside",
    r".* --cluster": "needs a cluster; plugins/cluster/tests/outside/test_cluster.py",
    r".* --preset gpu": "needs a GPU",
    r".* --hidden-cnn-layers 96x3( 96x3){7}": "makes a large network; tests/slow/network/test_net2net.py",
    r".* open_spiel:": "needs another library, starts a process; tests/games/test_openspiel.py",
}
"""{beginning of a command: why it is not run}; it is parsed if it is one of this program's."""
NOT_RUN_PYTHON = {
    "compiled_game.md": "is compiled for half a minute; tests/interface/test_new_game.py plays it",
    "textbook.md": "is lines of textbook.py; tests/test_textbook_selfplay.py compares them",
    "python.md": "is run where the program is installed; tests/slow/test_wheel.py",
}


def dashed(name):
    """Return the option of a field."""
    return f"--{name.replace('_', '-')}"


CHANGED = {name: new for name, (_, new) in differences(preset("tiny"), tiny()).items()}
TINY = ["--preset", "tiny", "--minutes", "0", "--iterations", "1"]
"""Options that start the tiny run: one network serves all commands that do."""
for name, value in CHANGED.items():
    TINY += [dashed(name), *(value if isinstance(value, tuple) else [str(value)])] if name != "iterations" else []
BY_WORD = {
    "connect4": "tictactoe", "othello": "tictactoe", "gomoku": "tictactoe",
    "4453": "b2 a3", "level:casual": "level:2", "level:4": "level:2", "hard": "easy",
    "f5d6c3": "b2", "rollout:50000": "rollout:16",
    "rollout:1000": "rollout:16", "rollout:1s": "rollout:0.02s", "rollout:60s": "rollout:0.02s",
    "rollout:1s+book:my_book.json": "rollout:0.02s+book:my_book.json", "rollout:60s+book": "rollout:0.02s+book",
}  # fmt: skip
"""{word of a command: the word that takes its place}"""
SMALLER = {
    r"play(?!.*level:)": ["--sims", "4"],
    r"explain": ["--sims", "8"],
    r".* --ply 12": ["--ply", "1"],
    r"replay .*--game-number 7": ["--game-number", "1"],
    r"match": ["--games", "2", "--sims", "4", "--opening-plies", "1"],
    r"match .*--sprt": ["--games", "32"],
    r"evaluate": ["--positions", "4", "--sims", "4", "--ladder-games", "2", "--ladder-sims", "4"],
    r"ship": ["--positions", "4", "--ladder-games", "2", "--level-games", "0"],
    r"book": ["--plies", "1"],
    r"check": ["--games", "3"],
    r"train(?!.* --run)(?!.*--help)": TINY,
    r"train .*--run": ["--iterations", "5"],
}  # fmt: skip
"""{beginning of a command: what is added to it, in place of what it says of the same options}"""
SMALLER_PYTHON = {'{"iterations": 100}': str({"iterations": 2, "episodes": 8, "mcts_sims": 8, "min_memory": 10,
                                              "batch_size": 16, "hidden_cnn_layers": ("8x3", "8x3"), "eval_sims": 4,
                                              "precision": "float32"})}  # fmt: skip
TYPED = "b2\nquit\n"
INPUT = "1\n" + "00000\n" * 10
"""A host's file: Black begins on an empty board."""
OTHERS = {
    "--head",
    "--num-cpus",
    "--include-dashboard",
    "--disable-usage-stats",
    "--address",
    "--generate",
    "--mode",
    "--chinese-rules",
    "--never-resign",
    "--capture-all-dead",
    "--option",
    "--help",
    "--rm",
    "--build-arg",
    "--help-all",
    "--busy",
    "--cold",
    "--from",
    "--all",
}
"""Options of other programs, and of every command."""


def blocks(path):
    """Return [(language, text)] of a document's code blocks."""
    return BLOCK.findall(path.read_text(encoding="utf-8"))


def prose(path):
    """Return a document without its code blocks."""
    return BLOCK.sub("", path.read_text(encoding="utf-8"))


def commands(text):
    """Return the commands of a block, each as its words."""
    lines = text.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def ours(words):
    """Return the arguments of a command of this program, its name first; None for another program's.

    In a checkout without plugins, theirs are another program's.
    """
    if words[0] == "./train.sh":
        words = ["python", "main.py", *words[1:]]
    if words[:2] != ["python", "main.py"]:
        return None
    named = len(words) > 2 and not words[2].startswith("-")
    argv = words[2:] if named else ["train", *words[2:]]
    return argv if WHOLE or argv[0] in COMMANDS and known_options().issuperset(options_in(argv)) else None


def options_in(argv):
    """Return the long options of a command."""
    return {word for word in argv if re.match("--[a-z]", word)}


@functools.cache
def known_options():
    """Return the options that this checkout's commands take, and those of other programs."""
    fields = [f for name in COMMANDS for f in dataclasses.fields(options_of(name))]
    known = OTHERS | {dashed(name) for name in FIELDS} | {dashed(f.name) for f in fields}
    return known | {dashed(f"no_{f.name}") for f in fields if f.type == "bool"}


def reason(words):
    """Return why a command is not run, None for one that is."""
    return next((why for start, why in NOT_RUN.items() if re.match(start, " ".join(words))), None)


def options_of(name):
    """Return the dataclass of a command."""
    there = module(name)
    return next(
        kind for kind in vars(there).values() if dataclasses.is_dataclass(kind) and kind.__module__ == there.__name__
    )


def parses(argv):
    """Parse a command as it stands; raise what a person would be shown."""
    if not HELP.isdisjoint(argv):
        return
    kind = options_of(argv[0])
    has_settings = "config" in {f.name for f in dataclasses.fields(kind)}
    parse(kind, argv[1:], kind(base_of(argv[1:])) if has_settings else None)


def smaller(argv):
    """Return a command that does the same in little time, with tic-tac-toe instead of the usual game."""
    argv = [BY_WORD.get(word, word) for word in argv]
    more = [word for start, words in SMALLER.items() if re.match(start + r"\b", " ".join(argv)) for word in words]
    usual = {f.name: f.default for f in dataclasses.fields(options_of(argv[0]))}
    if "--game" not in argv and ("config" in usual or usual.get("game") == "connect4"):
        more += ["--game", "tictactoe"]
    return [*without(argv, options_in(more)), *more]


def without(argv, options):
    """Return a command without these options and their values."""
    kept, option = [], ""
    for word in argv:
        option = word if word.startswith("-") else option
        kept += [] if option in options else [word]
    return kept


@pytest.fixture
def desk(tmp_path, place, quick, monkeypatch):
    """Return a folder to work in, a player that ships, and what a person types; no run: a guide makes its own."""
    shutil.copytree(HERE / "run_archive" / "tictactoe", tmp_path / "shipped" / "tictactoe")
    folder = tmp_path / "desk"
    folder.mkdir()
    (folder / "input.txt").write_text(INPUT)
    monkeypatch.chdir(folder)
    return folder


def begin_with(words, place, trained):
    """Put the tiny trained run where a guide's command trains one; return whether that is all that it does."""
    trains = words[:5] == ["python", "main.py", "--preset", "tiny", "--new"] and not any(place.iterdir())
    if trains:
        shutil.copytree(trained.parent.parent, place, dirs_exist_ok=True)
    return trains and len(words) == 5


def run_command(argv, capsys, monkeypatch):
    """Run a command of a guide, made small; fail with all that it printed unless it ends well."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(TYPED))
    small = smaller(argv)
    with contextlib.suppress(SystemExit):  # of --help
        code = run(small)
        out, err = capsys.readouterr()
        assert code == 0 and not err.startswith("error"), f"{shlex.join(argv)}, run as {shlex.join(small)}:\n{out}{err}"


@pytest.mark.parametrize("guide", [HERE / "README.md", *GUIDES], ids=lambda path: path.stem)
def test_what_a_guide_says_can_be_done_in_its_order(guide, desk, place, trained, capsys, monkeypatch):
    monkeypatch.setattr("storage.run_folders.EARLY", HERE / "early_versions")
    names = {}
    for language, text in blocks(guide):
        if language == "sh":
            for words in commands(text):
                done = begin_with(words, place, trained)
                if ours(words) is not None and reason(words) is None and not done:
                    run_command(ours(words), capsys, monkeypatch)
        elif language == "python" and (named := re.match(r"# (\w+\.py)\n", text)):
            (desk / named[1]).write_text(text)
        elif language == "python" and guide.name not in NOT_RUN_PYTHON:
            for long, short in SMALLER_PYTHON.items():
                text = text.replace(long, short)
            exec(compile(text, str(guide), "exec"), names)


@pytest.mark.parametrize("path", LINKED, ids=lambda path: str(path.relative_to(HERE)))
def test_every_command_is_one_that_the_program_takes(path):
    found = [words for language, text in blocks(path) if language in ("sh", "bash", "") for words in commands(text)]
    inline = [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose(path))]
    found += [shlex.split(code) for code in inline if not re.search(r"\.\.\.|\b[A-Z]+\b", code)]
    for words in found:
        if (argv := ours(words)) is not None:
            parses(argv)


@pytest.mark.skipif(not WHOLE, reason="engines are a plugin")
def test_a_player_that_ships_serves_each_engine_that_a_guide_enters_into_a_program():
    text = " ".join(prose(HERE / "docs" / "engines.md").split())
    found = re.findall(r"main\.py ((?:gtp|gomocup|analysis)\b[^`]*)`", text)
    assert len(found) > 6
    for argv in map(shlex.split, found):
        args = parse(options_of(argv[0]), argv[1:])
        assert run_folder(games.make(args.game), 0).is_dir(), argv


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.stem)
def test_options_and_files_that_a_guide_names_are_there(path):
    text = path.read_text(encoding="utf-8")
    unknown = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]", text)) - known_options()
    assert not WHOLE or not unknown
    left_out = tuple(f"{folder}/" for folder in ("plugins", "benchmarks") if not (HERE / folder).is_dir())
    named = [name for name in re.findall(r"`((?:\w+/)+\w+\.py)\b", text) if not name.startswith(left_out)]
    missing = [name for name in named if not (HERE / name).exists()]
    own = {"players/corner.py", "games_of_mine/snort.py", "commands/greet.py"}
    assert set(missing) <= own, "these are the reader's"


def test_blocks_are_commands_examples_or_output_and_none_escapes():
    unknown = {(path.name, language) for path in DOCS for language, _ in blocks(path)} - {
        (path.name, language) for path in DOCS for language in ("sh", "python", "text", "json")
    }
    assert not unknown


def test_the_list_of_what_is_not_run_holds_nothing_else():
    every = [words for path in DOCS for kind, text in blocks(path) if kind == "sh" for words in commands(text)]
    for start in NOT_RUN:
        assert any(re.match(start, " ".join(words)) for words in every), start
    assert not WHOLE or [words for words in every if ours(words) is None and reason(words) is None] == []
    assert set(NOT_RUN_PYTHON) <= {path.name for path in DOCS}


# ---- outputs

OUTPUT = re.compile(r"^```sh\n([^`]*)^```\n\n```text\n([^`]*)^```$", re.MULTILINE)
SHOWN = {
    ("get_started.md", "iter"): lambda: iteration_of_the_player_that_ships(30, 101),
    ("README.md", "iter"): lambda: iteration_of_the_player_that_ships(30, 101),
    ("gpu.md", "device:"): lambda: (
        "  device:  "
        + device.words(
            device.Speed((256,), (256 / 300_000 + 0.001,), (300_000.0,), (0.0,)), device.Plan(3, 1024, wanted=3072)
        )
    ),
}
"""{(guide, the first word of a block): what makes its text}: what only a long training or a GPU would print."""
LONG = {("textbook.md", "three")}
"""Blocks that show what a long run printed, with numbers of its own; its record is in benchmarks/log/."""
FRAGMENTS = {("add_a_player.md", "def"), ("plugins.md", "class"), ("compare_ideas.md", "game")}
"""Blocks of code that is not whole, so that it cannot be run."""
TYPED_IN_A_SHELL = ("python", "pip", "pipx", "uvx", "docker", "KERAS_BACKEND=jax")
"""First words of blocks of commands that are not run here."""
LOOSE = 0.03
"""Numbers of a search may differ by this share and as much again: processors round differently."""
BEFORE_THE_LINE = 8
"""Words of a line of a search up to the first move that it expects; the others may differ."""


def iteration_of_the_player_that_ships(number, width):
    """Return how a terminal of this width showed an iteration of the training of Connect 4's player."""
    lines = read_metrics(HERE / "run_archive" / "connect4" / "run0001" / "metrics.jsonl")
    return f"{heading(width)}\n{row(lines[number - 1], width)}"


def number(word):
    """Return a word as a number, None for any other."""
    try:
        return float(word.replace(",", "").rstrip("%,"))
    except ValueError:
        return None


def alike(shown, printed):
    """Return whether two texts have the same words, and numbers that are near."""
    shown, printed = ([line.split()[:BEFORE_THE_LINE] for line in text.splitlines()] for text in (shown, printed))
    if [len(line) for line in shown] != [len(line) for line in printed]:
        return False
    for a, b in zip(sum(shown, []), sum(printed, []), strict=True):
        x, y = number(a), number(b)
        if a != b and (x is None or y is None or abs(x - y) > LOOSE * (1 + max(abs(x), abs(y)))):
            return False
    return True


SHOWN_OUTPUTS = [
    (path, words, text)
    for path in [HERE / "README.md", *GUIDES]
    for block, text in OUTPUT.findall(path.read_text(encoding="utf-8"))
    for words in commands(block)[-1:]
]


@pytest.mark.parametrize("guide, words, shown", SHOWN_OUTPUTS, ids=lambda value: getattr(value, "stem", ""))
def test_a_command_prints_what_its_guide_shows(guide, words, shown, place, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(run_folders, "SHIPPED", HERE / "run_archive")
    monkeypatch.setattr("network.stored_network.resolve_precision", lambda precision: "float32")
    monkeypatch.chdir(tmp_path)
    first = [w for kind, text in blocks(guide) if kind == "sh" for w in commands(text) if "new-game" in w]
    for each in [*first, words]:
        capsys.readouterr()
        assert run(ours(each)) == 0
    printed = capsys.readouterr().out.replace(str(tmp_path), "/home/me")
    assert alike(shown, printed), f"{shlex.join(words)} prints\n{printed}"


def test_outputs_that_only_a_long_training_or_a_gpu_prints_are_what_the_program_makes_of_its_numbers():
    found = {
        (path.name, text.split()[0]): text
        for path in [HERE / "README.md", *GUIDES]
        for kind, text in blocks(path)
        if kind == "text"
    }
    for key, make in SHOWN.items():
        assert found[key].rstrip() == make().rstrip()


def test_every_block_of_text_is_an_output_that_is_compared_or_commands():
    for path in [HERE / "README.md", *GUIDES]:
        after = [text for each, _, text in SHOWN_OUTPUTS if each == path]
        for kind, text in blocks(path):
            key = path.name, text.split()[0]
            known = kind != "text" or text in after or key in SHOWN or key in FRAGMENTS or key in LONG
            assert known or key[1] in TYPED_IN_A_SHELL, f"{path.name}: nobody compares\n{text}"


def test_texts_are_alike_whose_numbers_are_near():
    text = "4  200  25.0%  0.874 -0.805\nX to move; version0034, 902 nodes"
    assert alike(text, text.replace("200", "203").replace("-0.805", "-0.81"))
    assert alike(text, text.replace("  ", " "))
    for some, other in (("0034", "0035"), ("200", "220"), ("-0.805", "0.805"), ("X to", "O to"), ("nodes", "nodes a")):
        assert not alike(text, text.replace(some, other)), some


# ---- index and form; links and lines are in tests/test_documents.py


def test_every_guide_is_in_the_index_and_every_picture_in_a_document():
    index = (HERE / "docs" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in GUIDES if f"({path.name})" not in index] == []
    assert [name for name in COMMANDS if f"| `{name}`" not in index and f", `{name}`" not in index] == []
    text = "".join(path.read_text(encoding="utf-8") for path in LINKED)
    assert [path.name for path in (HERE / "docs").glob("*.png") if path.name not in text] == []


@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.stem)
def test_a_guide_begins_with_what_its_reader_can_do(path):
    assert re.match(r"# .+\n\nAfter this page you ", path.read_text(encoding="utf-8"))


# ---- metrics.jsonl


def described():
    """Return the fields in the table of docs/metrics.md."""
    text = (HERE / "docs" / "metrics.md").read_text(encoding="utf-8")
    return re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)


def test_the_fields_of_metrics_are_those_that_runs_write(trained, tmp_path, quick):
    """The tiny run, and one that waits, has games of others and extra heads, looks again, and then has a lag."""
    export_games(trained, games.make("tictactoe"), tmp_path / "games.npz", count=0)
    config = tiny(seed=1, min_memory=150, episodes=8, soft_policy_weight=1.0, ownership_weight=1.0, score_games=0,
                  reanalyse_share=0.2)  # fmt: skip
    with Session.start(config, root=tmp_path, console=QUIET) as session:
        waiting = train(session, iterations=1)
        import_games(session, read_games(tmp_path / "games.npz"), "games.npz")
        lines = [*read_metrics(trained / "metrics.jsonl"), *waiting, *train(session, iterations=2)]
    changes = {"lag": 1, "reanalyse_share": 0.0}
    with Session.open(session.folder, with_overrides(config, **changes), console=QUIET) as session:
        lines += train(session, iterations=1)
    written = {name for line in lines for name in line}
    assert sorted(described()) == sorted(set(described())), "each field once"
    of_sizes = {"sizes_games", "sizes_match"}  # tests/slow/training/test_many_sizes_run.py
    assert set(described()) - of_sizes == written
