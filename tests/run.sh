#!/usr/bin/env bash
# Run the fast tests; with --all also those in folders slow/ and outside/. Further arguments go to pytest.
# Makes the virtual environment .venv (or $VENV) first and installs what is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
VENV=${VENV:-.venv}
. distribution/environment.sh
environment "$VENV" requirements.txt requirements-dev.txt
unset PYTHONDONTWRITEBYTECODE # hundreds of processes start: each would compile all modules again
memory=/dev/shm # the tests sync thousands of small files: in memory where there is room, as on disk each waits
if [ -w "$memory" ] && ! grep -q " $memory .*noexec" /proc/mounts &&
    [ "$(df -Pk "$memory" | awk 'NR == 2 {print $4}')" -gt 4000000 ]; then
    export PYTEST_DEBUG_TEMPROOT="${PYTEST_DEBUG_TEMPROOT:-$memory}"
fi
processes=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
case " $* " in # more than cores: one as many of these tests wait for programs, one for those that do little else
    *" --all "* | *"/slow"* | *"/outside"*) processes=$((processes + 2)) ;;
esac
"$VENV/bin/python" -m pytest -q -n "$processes" --dist loadfile --no-loadscope-reorder "$@"
