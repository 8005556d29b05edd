"""A program that speaks the Gomocup protocol well or badly, as its first argument says."""

import os
import sys
import time

MODE, NOTE = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.devnull
size, taken, late = 0, set(), False
if MODE == "absent":
    sys.exit(3)
if MODE == "mute":
    time.sleep(600)


def say(text):
    sys.stdout.write(text + "\r\n")
    sys.stdout.flush()


def move():
    if MODE == "hangs":
        time.sleep(600)
    while MODE == "floods":
        sys.stdout.write("MESSAGE flood\n" * 10_000)
    if MODE == "dies":
        sys.exit(1)
    answer = next((x, y) for y in range(size) for x in range(size) if (x, y) not in taken)
    taken.add(answer)
    text = "{},{}".format(*answer)
    say({"garbage": "\x1b[31mwhat?", "outside": "99,0", "same_point": "0,0", "refuses": "ERROR cannot think",
         "unknown": "UNKNOWN", "talks": f"{text}\r\n{text}", "chats": f"MESSAGE thinking\r\nDEBUG x\r\n\r\n{text}",
         "suggests": f"SUGGEST {text}"}.get(MODE, text))  # fmt: skip
    if late:  # an answer to INFO, after the move: so late that at the end of a game nobody has read it before RESTART
        time.sleep(0.05)
        say("UNKNOWN")


lines = iter(sys.stdin.readline, "")
for line in lines:
    with open(NOTE, "a") as note:
        note.write(line)
    command, _, words = line.strip().partition(" ")
    if command == "START":
        size = int(words)
        say("ERROR size" if MODE == "small" else "OK")
    elif command == "INFO" and MODE == "knows_no_info":
        say("ERROR unknown key")
    elif command == "INFO" and MODE == "answers_late":
        late = True
    elif command == "RESTART":
        taken.clear()
        say("OK")
    elif command == "BEGIN":
        move()
    elif command == "TURN":
        taken.add(tuple(map(int, words.split(","))))
        move()
    elif command == "BOARD":
        taken.clear()
        while (stone := next(lines).strip()) != "DONE":
            with open(NOTE, "a") as note:
                note.write(stone + "\n")
            taken.add(tuple(map(int, stone.split(",")[:2])))
        move()
    elif command == "PLAY":
        say(words)
    elif command == "END":
        break
