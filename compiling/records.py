"""Records: tuples of arrays and numbers that compiled code receives as one address.

numba passes a tuple by value, each array as seven numbers, so that a search's tables would be 250 parameters of every
function: most of the time to compile, and 15 us at each call. A record is passed as the address of a block of 8-byte
words, and compiled code reads a field where it needs it.

The words of a field: an array's address and shape; a number's value; the address of another record or of a function.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any, TypeVar

import numpy as np

from compiling.functions import Function
from compiling.numba_import import llvmlite, numba

cgutils = numba.core.cgutils
extending = numba.extending
ir = llvmlite.ir
typeof = numba.typeof
types = numba.types

WORD = ir.IntType(64)


class RecordType(types.Type):
    """The numba type of a record; fields: ((name, type), ...). All sizes of an array are one type."""

    def __init__(self, title: str, fields: tuple[tuple[str, Any], ...]) -> None:
        self.title, self.fields = title, fields
        digest = hashlib.sha256(repr([(name, str(kind)) for name, kind in fields]).encode()).hexdigest()
        super().__init__(f"{title}.{digest[:12]}")  # short: it is part of the name of each function that takes one
        places, place = {}, 0
        for name, kind in fields:
            places[name] = place, kind
            place += 1 + kind.ndim if isinstance(kind, types.Array) else 1
        self.places = places


extending.register_model(RecordType)(extending.models.OpaqueModel)


def words_of(value: Any, kind: Any) -> list[int]:
    """Return the words of a field. Raises `TypeError` for an array that is not contiguous and for other types."""
    if isinstance(kind, types.Array) and kind.layout == "C":
        return [value.ctypes.data, *value.shape]
    if isinstance(kind, (types.Integer, types.Boolean)):
        return [int(value) & (2**64 - 1)]
    if kind == types.float64:
        return list(struct.unpack("<Q", struct.pack("<d", value)))
    if isinstance(kind, (RecordType, Function)):
        return [value.address]
    raise TypeError(f"expected contiguous arrays, numbers, records and functions, got {kind}")


def block_of(values: Any, kind: RecordType) -> np.ndarray:
    """Return the words of a record, to be kept as long as it is used."""
    words = [word for value, (_, field) in zip(values, kind.fields, strict=True) for word in words_of(value, field)]
    return np.array(words, np.uint64)


T = TypeVar("T")


def record(cls: type[T]) -> type[T]:
    """Decorator that makes a named tuple a record. Its arrays' contents may change, but not the arrays themselves."""

    def address(self: Any) -> int:
        block = self.__dict__.get("_block")
        if block is None:  # of two threads' blocks the first is kept: a replaced one would be freed while it is used
            block = self.__dict__.setdefault("_block", block_of(self, typeof(self)))
        return int(block.ctypes.data)

    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}
    made: Any = type(cls.__name__, (cls,), {**names, "address": property(address)})
    extending.typeof_impl.register(made)(_typeof_record)
    return made  # type: ignore[no-any-return]


def _typeof_record(value: Any, context: Any) -> RecordType:
    """Return a record's type, found once: numba asks at each call from Python, and it takes 0.3 ms to find."""
    if "_kind" not in value.__dict__:  # two threads may both find it: types that are equal are one
        fields = tuple(zip(value._fields, map(typeof, value), strict=True))
        value.__dict__["_kind"] = RecordType(type(value).__name__, fields)
    kind: RecordType = value.__dict__["_kind"]
    return kind


@extending.unbox(RecordType)
def _unbox_record(kind: Any, value: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(value, "address")
    missing = cgutils.is_null(c.builder, address)
    place = cgutils.alloca_once_value(c.builder, ir.Constant(cgutils.voidptr_t, None))
    with c.builder.if_then(c.builder.not_(missing), likely=True):
        c.builder.store(c.pyapi.long_as_voidptr(address), place)
        c.pyapi.decref(address)
    return extending.NativeValue(c.builder.load(place), is_error=missing)


@extending.infer_getattr
class _Field(numba.core.typing.templates.AttributeTemplate):
    key = RecordType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.places[name][1] if name in kind.places else None


@numba.core.imputils.lower_getattr_generic(RecordType)
def _get_field(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    return read_field(context, builder, kind, value, name)


def read_field(context: Any, builder: Any, kind: RecordType, value: Any, name: str) -> Any:
    """Emit the code that reads a field. Nothing writes to a block, which the compiler is told: `invariant.load`."""
    place, field = kind.places[name]
    words = builder.bitcast(value, WORD.as_pointer())
    unchanging = builder.module.add_metadata([])

    def word(i: int) -> Any:
        found = builder.load(builder.gep(words, [WORD(place + i)]))
        found.set_metadata("invariant.load", unchanging)
        return found

    wanted = context.get_value_type(field)
    if isinstance(field, types.Array):
        return _array(context, builder, field, word)
    if isinstance(field, Function):
        function = cgutils.create_struct_proxy(field)(context, builder)
        function.c_addr = builder.inttoptr(word(0), cgutils.voidptr_t)
        return function._getvalue()
    if isinstance(field, RecordType):
        return builder.inttoptr(word(0), wanted)
    if field == types.float64:
        return builder.bitcast(word(0), wanted)
    return builder.trunc(word(0), wanted) if wanted.width < 64 else word(0)


def _array(context: Any, builder: Any, kind: Any, word: Any) -> Any:
    array = context.make_array(kind)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    shape = [word(1 + i) for i in range(kind.ndim)]
    strides = [WORD(size)]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    data = builder.inttoptr(word(0), array.data.type)
    numba.np.arrayobj.populate_array(array, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()
