#!/usr/bin/env bash
# Set up and run the main job: makes the virtual environment .venv (or $VENV), then `python main.py` with the arguments.
set -euo pipefail
cd "$(dirname "$0")"
VENV=${VENV:-.venv}
[ -x "$VENV/bin/python" ] || python3 -m venv "$VENV"
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements.txt
exec "$VENV/bin/python" main.py "$@"
