#!/usr/bin/env bash
# Set up and run the tests: makes the virtual environment .venv (or $VENV) and installs what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}
[ -x "$VENV/bin/python" ] || python3 -m venv "$VENV"
"$VENV/bin/python" -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
"$VENV/bin/python" -m pytest -q -n auto --dist loadfile --no-loadscope-reorder "$@"
