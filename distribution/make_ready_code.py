"""Makes the code that ships, compiling/ready/, for the numba that is installed and for this kind of system.

    python distribution/make_ready_code.py

It compiles all that `python main.py prepare` does, in a minute. Files of other versions of numba are removed.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
EMPTY = tempfile.TemporaryDirectory()
os.environ["NUMBA_CACHE_DIR"] = EMPTY.name  # else nothing would be compiled that is kept already

import games  # noqa: E402
from compiling.numba_import import numba  # noqa: E402
from compiling.ready_code import FOLDER, SYSTEM  # noqa: E402
from compiling.write_ready_code import writing  # noqa: E402
from interface.compile_ahead import compile_ahead  # noqa: E402


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with writing() as written:
        for name in games.names():
            compile_ahead(games.make(name))
            print(f"{name}: {len(written)} functions", flush=True)
    for path in set(FOLDER.iterdir()) - written:
        path.unlink()
    for other in FOLDER.parent.glob(f"numba-*{SYSTEM.partition(numba.__version__)[2]}"):
        if other != FOLDER:
            shutil.rmtree(other)
    print(f"{FOLDER}: {sum(path.stat().st_size for path in written):,} bytes")


if __name__ == "__main__":
    main()
