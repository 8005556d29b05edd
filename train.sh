#!/usr/bin/env bash
# Set up and run the main job: makes the virtual environment .venv (or $VENV), then `python main.py` with the arguments.
set -euo pipefail
cd "$(dirname "$0")"
VENV=${VENV:-.venv}
. distribution/environment.sh
environment "$VENV" requirements.txt
exec "$VENV/bin/python" main.py "$@"
