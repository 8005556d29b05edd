"""Copies the machine code that is kept for one checkout to a copy of it, so that nothing is compiled again there.

    python .ci/copy_compiled.py CHECKOUT COPY

numba keeps the code of each folder of sources under a name made of the path of that folder.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from numba.core.caching import InTreeCacheLocator

SAY = "from compiling.prepared import FOLDER; print(FOLDER)"


def kept(checkout):
    """Return the folder in which a checkout keeps machine code."""
    done = subprocess.run([sys.executable, "-c", SAY], cwd=checkout, capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())


def part(folder):
    """Return the name of the folder with the machine code of a folder of sources."""
    return InTreeCacheLocator.get_suitable_cache_subpath(str(folder / "any.py"))


if __name__ == "__main__":
    checkout, copy = (Path(argument).absolute() for argument in sys.argv[1:])
    source, target = kept(checkout), kept(copy)
    for folder in [checkout, *(path.parent for path in checkout.glob("*/__init__.py"))]:
        if (source / part(folder)).is_dir():
            shutil.copytree(source / part(folder), target / part(copy / folder.relative_to(checkout)),
                            dirs_exist_ok=True)
    for mark in source.glob("prepared-*"):
        shutil.copy2(mark, target)
