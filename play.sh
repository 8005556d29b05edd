#!/usr/bin/env bash
# Play at the console without TensorFlow and Keras: makes the virtual environment .venv-play (or $VENV), a sixth of the
# size of train.sh's, then `python main.py play` with the arguments; by default Connect 4 against the best network of
# your newest run, else the player that ships. With --page first, open the page in a browser: `python main.py serve`.
set -euo pipefail
cd "$(dirname "$0")"
VENV=${VENV:-.venv-play}
needed=requirements-play.txt command=play
if [ "${1:-}" = --page ]; then
    shift
    needed=requirements-page.txt command=serve
fi
if [ ! -x "$VENV/bin/python" ] || ! cmp -s "$needed" "$VENV/installed-$needed"; then
    if ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then # there is none, or its making was interrupted
        if [ -f "$VENV/pyvenv.cfg" ]; then python3 -m venv --clear "$VENV"; else python3 -m venv "$VENV"; fi
    fi
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r "$needed"
    cp "$needed" "$VENV/installed-$needed" # the next start need not ask pip
fi
exec "$VENV/bin/python" main.py "$command" "$@"
