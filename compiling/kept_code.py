"""Machine code kept on disk for the next start: numba's own cache, in our folder and with a digest in each file.

A damaged file is removed and its function compiled again. What cannot be written is not kept, and a line says so.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from compiling import cache_folder
from compiling.made_from import made_from
from compiling.numba_import import numba

caching = numba.core.caching

KEEPING = "alphazero:keeping"
"""The event of numba's kind while a function's machine code is made and written; compiling has ended then."""


class _InFolder:
    """Where a function's machine code is kept, whatever numba's own settings are."""

    _py_file: str

    def get_cache_path(self) -> str:
        return str(cache_folder.FOLDER / caching.InTreeCacheLocator.get_suitable_cache_subpath(self._py_file))

    def ensure_cache_path(self) -> None:
        os.makedirs(self.get_cache_path(), exist_ok=True)


class _OfFile(_InFolder, caching.InTreeCacheLocator):
    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        return cls(py_func, py_file) if os.path.exists(py_file) else None


class _OfCell(_InFolder, caching.IPythonCacheLocator):
    """Of a function in a notebook's cell."""


class _Locations(caching.CompileResultCacheImpl):
    _locator_classes = [_OfFile, _OfCell]


class _CheckedFile(caching.IndexDataCacheFile):
    """numba's files of a function, each followed by its digest, which unpickling ignores."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        with super()._open_for_write(filepath) as file:
            content = io.BytesIO()
            yield content
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())

    def _remove_damaged(self, path: str) -> None:
        with open(path, "rb") as file:
            content = file.read()
        if hashlib.sha256(content[:-32]).digest() != content[-32:]:
            os.unlink(path)

    def _load_index(self) -> Any:
        if os.path.exists(self._index_path):
            self._remove_damaged(self._index_path)
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        self._remove_damaged(self._data_path(name))
        return super()._load_data(name)


class KeptCode(caching.FunctionCache):
    """A function's machine code on disk. What cannot be read is compiled again; what cannot be written is not kept."""

    _impl_class = _Locations

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        module = self._py_func.__module__  # kept code imports it, and that of your own game changes with its files
        return (*super()._index_key(sig, codegen), module, made_from(self._py_func))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except OSError:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            with numba.core.event.trigger_event(KEEPING):  # machine code is made here
                super().save_overload(sig, data)
        except OSError as error:
            folder = cache_folder.FOLDER
            _warn(f"{folder} keeps no compiled code ({error.strerror}): every start compiles it again")


@cache
def _warn(text: str) -> None:
    logging.getLogger("alphazero.compiled").warning(text)
