"""A game of one's own is trained, gone on with from elsewhere, and compiled once."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from interface.cli import run
from loggers import read_metrics
from support.command_line import SMALL, output_of
from support.own_games import changed, listing
from support.run_states import Listening

HERE = Path(__file__).parents[3]


def test_the_template_keeps_the_style_of_the_house(snort):
    ruff = pytest.importorskip("ruff", reason="ruff is not installed").find_ruff_bin()
    settings = (HERE / "pyproject.toml").read_text().split("[tool.ruff]")[1].split("[tool.mypy]")[0]
    settings = settings.replace("[tool.ruff.", "[").replace('src = [".", "tests"]', f'src = ["{HERE}"]')
    (snort.parent / "ruff.toml").write_text(settings)
    done = subprocess.run([ruff, "check", "--no-cache", str(snort)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_is_learned_gone_on_with_from_elsewhere_and_played(place, snort, tmp_path, monkeypatch, capsys, caplog):
    def warned():
        return [record.getMessage() for record in caplog.records if record.name.startswith("alphazero")]

    small = [*SMALL, "--episodes", "8", "--games-in-flight", "8"]
    assert run(["--game", "snort.py:Snort(size=3)", *small, "--iterations", "1"]) == 0
    (folder,) = place.glob("*/run0001")
    assert re.fullmatch(r"snort-Snort-size-3-[0-9a-f]{8}", folder.parent.name)
    assert json.loads((folder / "config.json").read_text())["game"] == f"{snort}:Snort(size=3)"
    monkeypatch.chdir(tmp_path)
    assert run(["--game", "desk/snort.py:Snort(size=3)", "--run", "1", "--iterations", "2"]) == 0
    assert len(read_metrics(folder / "metrics.jsonl")) == 2
    match = ["match", "current", "random", "--game", "desk/snort.py:Snort(size=3)", "--games", "2", "--sims", "4"]
    code, out, _ = output_of(capsys, *match, "--json")
    assert code == 0 and json.loads(out)["games"] == 2 and not warned()

    changed(snort, ("Who cannot move loses.", "Who cannot move loses!"))
    code, out, _ = output_of(capsys, *match, "--json")
    assert code == 0 and warned() == ["the rules have changed since run0001 learned them"]
    from initialise import Session

    console = Listening()
    Session.open(folder, console=console).close()
    assert console.said == ["the rules have changed since this run began: its games and networks are of the old ones"]


def test_a_run_goes_on_with_edited_rules_only_if_they_allow_its_games(place, snort, desk, capsys):
    """A helper says which points are free; on 3 x 3 nearly every game plays the centre."""
    changed(
        snort,
        ("import numpy as np\n", "import numpy as np\n\nfrom near import closed\n"),
        ("for i in range(len(cells)) if", "for i in range(len(cells)) if not closed(i) and"),
    )
    (desk / "near.py").write_text("def closed(point):\n    return False\n")
    spec = "snort.py:Snort(size=3)"
    train = ["--game", spec, *SMALL, "--episodes", "8", "--games-in-flight", "8"]
    assert run([*train, "--iterations", "1"]) == 0
    (folder,) = place.glob("*/run0001")
    verify, again = ["verify", "--game", spec], [*train, "--run", "1", "--iterations", "2"]
    code, out, _ = output_of(capsys, *verify)
    assert code == 0 and "changed" not in out

    (desk / "near.py").write_text("def closed(point):\n    return False  # none is\n")
    code, out, _ = output_of(capsys, *verify)
    changed_since = "the rules have changed since this run began; it was checked by the new ones"
    assert code == 0 and f"{changed_since}, which allow all its games\n" in out

    (desk / "near.py").write_text("def closed(point):\n    return point == 4\n")
    before = (folder / "run.db").read_bytes()
    code, out, err = output_of(capsys, *again)
    words = r"have changed since this run began, and game \d+ of iteration 1 is none by them: .*; put the files back"
    assert code == 2 and re.search(rf"error: run0001: the rules of \S+ {words}", err)
    code, out, _ = output_of(capsys, *verify)
    assert code == 4 and out.startswith(changed_since) and "recover" not in out
    code, _, err = output_of(capsys, "--new", "--initial-run-number", "1", "--initial-memory-version", "1", *train)
    assert code == 2 and "the rules of" in err and (folder / "run.db").read_bytes() == before

    (desk / "near.py").write_text("def closed(point):\n    return False\n")
    assert output_of(capsys, *again)[0] == 0
    code, out, _ = output_of(capsys, *verify)
    assert code == 0 and "changed" not in out


def test_a_compiled_game_of_ones_own_is_loaded_and_not_compiled_again_in_a_new_process(desk):
    (desk / "fast.py").write_text(listing())
    script = (
        f"import sys; sys.path.insert(0, {str(HERE)!r})\n"
        "import games\n"
        "game = games.make('fast.py:Snort(size=4)'); game.start().takeAction(0)\n"
        "print(sum(rule.cache_hits for rule in game.rules[:5]))"
    )
    counts = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True) for _ in range(2)]
    assert [c.stdout.strip() for c in counts] == ["0", "5"], counts[1].stderr
