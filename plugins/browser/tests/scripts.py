"""Runs the page's scripts in Node."""

import json
import subprocess
from pathlib import Path

from plugins.browser.game_facts import page_file

RUNNER = Path(__file__).with_name("scripts.mjs")


def answer(names, facts, given, expression, *, before=""):
    """Return the value of a JavaScript expression over `given`, after the scripts of these names.

    before: JavaScript in place of what these scripts need of others.
    """
    scripts = [before, *map(page_file, names)]
    text = json.dumps({"scripts": scripts, "facts": facts, "given": given, "answer": expression})
    run = subprocess.run(["node", RUNNER], input=text, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)
