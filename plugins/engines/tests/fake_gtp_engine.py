"""A program that speaks GTP well or badly, as its first argument says; for plugins/engines/tests/test_gtp.py."""

import os
import subprocess
import sys
import time

MODE, NOTE = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.devnull
moves = 0


def fill_own_input():
    """Fill the own input, so that whoever writes more waits for ever."""
    end = os.open("/proc/self/fd/0", os.O_WRONLY | os.O_NONBLOCK)
    for size in (4096, 1):
        try:
            while True:
                os.write(end, b"x" * size)
        except BlockingIOError:
            pass


if MODE == "absent":
    sys.exit(3)
if MODE == "mute":
    time.sleep(600)
for line in sys.stdin:
    with open(NOTE, "a") as note:
        note.write(line)
    number, command, *words = line.split() if line[0].isdigit() else ["", *line.split()]
    if command == "quit" and MODE != "stubborn":
        print(f"={number}\n", flush=True)
        break
    if MODE == "passes_by_itself" and command == "play" and words[1].lower() == "pass":
        answer = f"?{number} syntax error"
    elif command != "genmove" or MODE == "stubborn":
        answer = f"={number}"
    elif MODE == "hangs":
        time.sleep(600)
    elif MODE == "floods":
        while True:
            sys.stdout.write("= " + "flood " * 10_000)
    elif MODE == "dies":
        sys.exit(1)
    elif MODE == "breeds":  # dies, but what it started lives on
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open(NOTE, "a") as note:
            note.write(f"child {child.pid}\n")
        sys.exit(1)
    elif MODE == "leaves":  # what it starts leaves its group, and keeps its output
        if os.fork() == 0:
            os.setsid()
            if (child := os.fork()) == 0:
                time.sleep(600)
            with open(NOTE, "a") as note:
                note.write(f"child {child}\n")
        os._exit(0)
    elif MODE == "garbage":
        answer = "\x1b[31mwhat?"
    elif MODE == "wrong_number":
        answer = f"={int(number) + 1} A1"
    elif MODE == "talks":
        answer = f"={number} A1\n\n={number} B1"
    elif MODE == "refuses":
        answer = f"?{number} cannot think"
    elif MODE in ("resigns", "passes_by_itself"):
        answer = f"={number} resign"
    else:
        answer = (
            f"={number} "
            + {"same_point": "A1", "outside": "Z25", "nonsense": "\u00e4\t9", "passes": "PASS", "deaf": "PASS"}[MODE]
        )
    deaf = MODE == "deaf" and command == "genmove"
    if deaf:
        fill_own_input()
    print(answer + "\n", flush=True)
    if deaf:
        time.sleep(600)
