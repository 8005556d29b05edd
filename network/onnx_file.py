"""Writes ONNX files: the messages of onnx.proto in protobuf's encoding, without the packages `onnx` and `protobuf`.

A message is its fields one after the other: key (number * 8 + wire type), then a varint (wire type 0), four bytes (5),
or a length and bytes (2). Two messages written one after the other are one, with the fields of both.
https://protobuf.dev/programming-guides/encoding, https://onnx.ai/onnx/intro/concepts.html
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np

FORMAT, OPERATORS = 8, 17
"""Version of the format and of ONNX's operators; ONNX Runtime 1.12 of 2022 and all later ones read them."""
TYPES = {"float32": 1, "uint8": 2, "int64": 7}
"""Numbers of types of arrays: TensorProto.DataType."""


def _varint(number: int) -> bytes:
    """Return a whole number in pieces of 7 bits, the lowest first; a negative one as 64 bits.

    >>> _varint(300)
    b'\\xac\\x02'
    """
    number &= (1 << 64) - 1
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _field(number: int, value: int | float | str | bytes) -> bytes:
    """Return one field of a message; bytes are an inner message or raw data."""
    if isinstance(value, int):
        return _varint(number * 8) + _varint(value)
    if isinstance(value, float):
        return _varint(number * 8 + 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number * 8 + 2) + _varint(len(data)) + data


def _fields(number: int, values: Sequence[int | str | bytes]) -> bytes:
    return b"".join(_field(number, value) for value in values)


def node(operator: str, inputs: Sequence[str], output: str, **attributes: int | float | Sequence[int]) -> bytes:
    """Return a NodeProto, named as its only output."""
    found = _fields(1, inputs) + _field(2, output) + _field(3, output) + _field(4, operator)
    return found + _fields(5, [_attribute(name, value) for name, value in attributes.items()])


def _attribute(name: str, value: int | float | Sequence[int]) -> bytes:
    """Return an AttributeProto: a float (its type 1), a whole number (2) or a list of these (7)."""
    if isinstance(value, float):
        return _field(1, name) + _field(2, value) + _field(20, 1)
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, name) + _fields(8, value) + _field(20, 7)


def tensor(name: str, array: np.ndarray) -> bytes:
    """Return a TensorProto."""
    data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return _fields(1, array.shape) + _field(2, TYPES[array.dtype.name]) + _field(8, name) + _field(9, data)


def array_of(name: str, kind: str, shape: Sequence[int | str]) -> bytes:
    """Return the ValueInfoProto of an input or output; a length given by name may be any."""
    lengths = _fields(1, [_field(2 if isinstance(length, str) else 1, length) for length in shape])
    return _field(1, name) + _field(2, _field(1, _field(1, TYPES[kind]) + _field(2, lengths)))


def model(
    name: str, nodes: Sequence[bytes], constants: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes],
    facts: Mapping[str, str],
) -> bytes:  # fmt: skip
    """Return a ModelProto, the content of an .onnx file; `facts`: its metadata_props."""
    graph = _fields(1, nodes) + _field(2, name) + _fields(5, constants) + _fields(11, inputs) + _fields(12, outputs)
    pairs = [_field(1, key) + _field(2, text) for key, text in facts.items()]
    return (
        _field(1, FORMAT) + _field(2, "alphazero-keras") + _field(7, graph)
        + _field(8, _field(1, "") + _field(2, OPERATORS)) + _fields(14, pairs)
    )  # fmt: skip
