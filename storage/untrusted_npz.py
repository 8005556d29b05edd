"""Reading of array files from any source: all of the form is checked before an array is made.

The file is an .npz (a zip of .npy) as `numpy.savez` writes it. Members are stored, never compressed, so the content is
no larger than the file. No pickles.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping

import numpy as np

HEADER = 4096
"""More bytes than the header of a .npy takes."""


class BadArrays(ValueError):
    """A file of arrays is not what was expected; the message is one line."""


def read_arrays(
    data: bytes, spec: Mapping[str, tuple[str | tuple[str, ...], tuple[int, ...]]], *, only: bool = True
) -> dict[str, np.ndarray]:
    """Return the arrays that `spec` names, {name: (dtype or dtypes such as "<f4", shape)}.

    Raises `BadArrays` unless members, dtypes, shapes and byte counts are exactly those, and every float is finite.
    only: whether other members are refused.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = dict(_members(archive, len(data)))
            wanted = [f"{name}.npy" for name in spec]
            missing = [name for name in wanted if name not in members]
            if missing or (only and len(members) != len(wanted)):
                named = f": {missing[0]} is missing" if missing else ""
                raise BadArrays(f"expected {len(wanted)} arrays, got {len(members)}{named}")
            return {name: _read_member(archive, members[f"{name}.npy"], *spec[name]) for name in spec}
    except BadArrays:
        raise
    except Exception as error:  # zipfile and numpy raise many kinds for damaged input
        raise BadArrays(f"cannot be read ({type(error).__name__}: {str(error)[:80]!r})") from None


def _members(archive: zipfile.ZipFile, size: int) -> Iterator[tuple[str, zipfile.ZipInfo]]:
    total, seen = 0, set()
    for info in archive.infolist():
        total += info.file_size
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or total > size:
            raise BadArrays(f"expected arrays stored as they are, {info.filename[:40]!r} is compressed")
        if info.filename in seen:
            raise BadArrays(f"expected each array once, got {info.filename[:40]!r} twice")
        seen.add(info.filename)
        yield info.filename, info


def _read_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, dtypes: str | tuple[str, ...], shape: tuple[int, ...]
) -> np.ndarray:
    """Return a member as an array; numpy reads its header, and evaluates literals only."""
    name = info.filename[:40]
    content = archive.read(info)
    stream = io.BytesIO(content[:HEADER])
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise BadArrays(f"{name}: expected .npy 1.0, got {version}")
    found, fortran, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=HEADER)
    allowed = [np.dtype(text) for text in ((dtypes,) if isinstance(dtypes, str) else dtypes)]
    if dtype not in allowed or found != tuple(shape) or (fortran and len(shape) > 1):
        wanted = " or ".join(str(d) for d in allowed)
        raise BadArrays(f"{name}: expected numbers of shape {tuple(shape)} ({wanted}), got {dtype} {found}"[:200])
    count, offset = int(np.prod(shape, dtype=object)), stream.tell()
    if len(content) != offset + count * dtype.itemsize:
        raise BadArrays(f"{name}: expected {count * dtype.itemsize} bytes of numbers, got {len(content) - offset}")
    array = np.frombuffer(content, dtype, count, offset).reshape(shape).copy()
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise BadArrays(f"{name}: expected finite numbers, got NaN or infinity")
    return array
