"""numba and llvmlite, for who needs their insides: the one file that imports them.

numba reads its settings when it is imported, so the environment is set before. Others write
`from compiling.numba_import import numba` and name the part by its path, such as `numba.core.event`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy  # noqa: F401  # what it takes is not part of what is needed below

from compiling.environment import need_address_space, take_numba_over
from config import UserError
from system.collector import loading

take_numba_over()
need_address_space(1.1, "compiled code")

with loading():
    import llvmlite
    import llvmlite.binding
    import llvmlite.ir
    import numba
    import numba.core.caching
    import numba.core.ccallback
    import numba.core.cgutils
    import numba.core.codegen
    import numba.core.compiler
    import numba.core.compiler_lock
    import numba.core.event
    import numba.core.imputils
    import numba.core.registry
    import numba.core.sigutils
    import numba.core.typing.templates
    import numba.experimental.function_type
    import numba.extending
    import numba.np.arrayobj

__all__ = ["llvmlite", "numba"]


@contextmanager
def _absent(*packages: str) -> Iterator[None]:
    """Let a block find packages missing that are not yet loaded."""
    hidden = [name for name in packages if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


with loading(), _absent("scipy.linalg", "cffi"):  # numba loads them for what compiled code here never uses, 0.15 s
    import numba.core.typing.cffi_utils
    import numba.np.arraymath  # noqa: F401

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # loaded before, as in a notebook
    raise UserError("numba was loaded with NUMBA_DISABLE_JIT; this program runs only compiled: restart without it")
