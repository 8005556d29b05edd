#!/usr/bin/env bash
# Set up and run the main job: makes the virtual environment .venv (or $VENV), then `python main.py` with the arguments.
set -euo pipefail
cd "$(dirname "$0")"
VENV=${VENV:-.venv}
if [ ! -x "$VENV/bin/python" ] || ! cmp -s requirements.txt "$VENV/installed-requirements.txt"; then
    if ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1; then # there is none, or its making was interrupted
        if [ -f "$VENV/pyvenv.cfg" ]; then python3 -m venv --clear "$VENV"; else python3 -m venv "$VENV"; fi
    fi
    "$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt
    cp requirements.txt "$VENV/installed-requirements.txt" # the next start need not ask pip
fi
exec "$VENV/bin/python" main.py "$@"
