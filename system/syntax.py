"""Syntax trees of sources, built in any thread."""

from __future__ import annotations

import ast
import threading
import time

_ONE = threading.Lock()
ATTEMPTS = 50


def syntax_of(source: str | bytes, file: str = "<unknown>") -> ast.Module:
    """Return the syntax tree of a source; raise `SyntaxError` or `ValueError` if it is none.

    Python before 3.11.8 and 3.12.2 counts the depth of the trees of all threads together: two built at the same time
    end in a `SystemError` (python/cpython#106905). Ours are built one after the other; libraries build some too, so a
    tree that met one of those is built again.
    """
    with _ONE:
        for attempt in range(ATTEMPTS):
            try:
                return ast.parse(source, file)
            except SystemError:
                if attempt == ATTEMPTS - 1:
                    raise
                time.sleep(0.001 * attempt)
    raise AssertionError("the last attempt returns or raises")
