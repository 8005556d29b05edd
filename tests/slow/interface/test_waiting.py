"""What a terminal shows while libraries are loaded: a counter, which leaves nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

from interface.commands import waiting
from support.systems import needs_posix

HERE = Path(__file__).parents[3]
CODE = """
import sys
from interface.commands import waiting
from loggers import quiet_stderr
with waiting(), quiet_stderr():  # which drops what TensorFlow prints while it is loaded
    sys.stdin.readline()
print("done")
"""


def test_nothing_is_shown_where_nobody_looks(capfd):
    with waiting():
        pass
    assert capfd.readouterr() == ("", "")


@needs_posix
def test_the_seconds_are_shown_in_a_terminal_and_gone_at_the_end():
    import pty

    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "LANG": "C", "LC_ALL": "C", "LANGUAGE": ""}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": theirs}
    process = subprocess.Popen([sys.executable, "-c", CODE], cwd=HERE, env=environment, text=True, **pipes)
    os.close(theirs)
    seen = ""
    while " 1 s" not in seen:
        seen += os.read(ours, 4096).decode()
    assert process.communicate("\n")[0] == "done\n" and process.returncode == 0
    while not seen.endswith("\r\x1b[J"):
        seen += os.read(ours, 4096).decode()
    os.close(ours)
    assert seen.startswith("\r\x1b[Jloading the network's libraries: 0 s")
