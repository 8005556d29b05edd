"""The processes of an experiment: whose modules they load, and that all of them end."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from plugins.experiment import measure, runs
from plugins.experiment.plan import from_values
from system import processes

FOLDER = Path(runs.__file__).parent
STUBS = {
    "child.py": {
        "system/processes.py": "def keep_to(numbers): pass\n",
        "interface/start.py": "import of_user\ndef command(): print(of_user.WORD)\n",
    },
    "seat.py": {
        "games.py": "import of_user\nprint(of_user.WORD)\ndef make(name): pass\n",
        "network/predictor.py": "STEADY = 1\n",
        "players/by_name.py": "def make_player(*names, **options): pass\n",
    },
}


@pytest.mark.parametrize("script, words", [("child.py", ["0", "0"]), ("seat.py", ["tictactoe", "8", "{}"])])
def test_modules_of_the_users_path_are_found_by_another_checkout(tmp_path, monkeypatch, script, words):
    for name, text in STUBS[script].items():
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout" / name).write_text(text)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "of_user.py").write_text("WORD = 'found'\n")
    (tmp_path / "mine" / "games.py").write_text("raise SystemExit('the checkout comes first')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "mine"))
    start = [sys.executable, "-P", str(FOLDER / script), str(tmp_path / "checkout"), "", *words]
    with subprocess.Popen(start, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        said = [process.stdout.readline(), process.stderr.readline()]
        process.kill()
    assert b"found\n" in said, said


@pytest.mark.parametrize("forced", [None, 0, 1])
def test_wins_by_force_are_searched_in_play_as_the_variant_names_them(tmp_path, monkeypatch, forced):
    """Play would look for all of them otherwise, whatever a run has learned with."""
    named = {} if forced is None else {"forced_wins": forced}
    used = []

    def make_player(name, game, **options):
        used.append(options["changes"])
        return SimpleNamespace()

    def remote_player(name, game, words, environment, log):
        used.append(json.loads(words[-1]))
        return SimpleNamespace(close=lambda: None)

    monkeypatch.setattr(measure, "make_player", make_player)
    monkeypatch.setattr(measure, "RemotePlayer", remote_player)
    variants = {"here": named, "there": {**named, "checkout": str(tmp_path)}}
    plan = from_values({"game": "gomoku(size=9)", "minutes": 1, "seeds": 1, "variants": variants}, "")
    for job in runs.jobs(plan, tmp_path):
        job.root.mkdir(parents=True)
        with measure.player_of(plan, job):
            pass
    assert used == [named, named]


def test_a_player_in_a_process_of_its_own_gets_the_settings_of_play(tmp_path):
    stubs = {**STUBS["seat.py"], "games.py": "def make(name): pass\n"}
    stubs["players/by_name.py"] = "def make_player(*names, **options): print(options['changes'])\n"
    for name, text in stubs.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    start = [sys.executable, "-P", str(FOLDER / "seat.py"), str(tmp_path), "", "tictactoe", "8", '{"forced_wins": 0}']
    done = subprocess.run(start, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert done.stderr == b"{'forced_wins': 0}\n" and done.stdout == b'"ready"\n'


def test_a_run_that_does_not_stop_is_killed_with_all_it_started(monkeypatch):
    monkeypatch.setattr(runs, "PATIENCE", 0.2)
    deaf = "import signal as s; [s.signal(x, s.SIG_IGN) for n in ('SIGTERM', 'SIGBREAK') if (x := getattr(s, n, 0))]; "
    inner = deaf + "import time; print('ready', flush=True); time.sleep(20); print('alive')"
    outer = deaf + f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
    process = subprocess.Popen([sys.executable, "-c", outer], stdout=subprocess.PIPE, **processes.own_group())
    assert process.stdout.readline().strip() == b"ready"
    runs._end([process])
    assert process.stdout.read() == b"" and process.returncode != 0
    process.stdout.close()
