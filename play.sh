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
. distribution/environment.sh
environment "$VENV" "$needed"
exec "$VENV/bin/python" main.py "$command" "$@"
