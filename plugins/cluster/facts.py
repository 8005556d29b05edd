"""What two machines compare before one plays games for the other: program, packages, precision, class of processor.

Games must follow from their seed and network alone, whoever plays them. Another program or another version of a package
may play other games, so such a machine is refused. Processors of another class add up in another order: their games
are as good, but not those that this machine would play; a run that has such games says so (`mixed`).
"""

from __future__ import annotations

import json
import os
import platform
import re
import socket
import sys
from typing import Any

from network.cpu_features import native_bfloat16
from system.machine import processor_flags
from system.program import commit, packages, sources_digest

COMPUTING = ("numpy", "numba", "llvmlite", "openvino", "onnxruntime")
"""Packages on which the numbers of a game depend."""
WIDE = ("avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16")
"""Flags of a processor by which libraries choose how to add up."""


def facts() -> dict[str, Any]:
    """Return what this process says of itself, as plain values."""
    return {
        "host": socket.gethostname(), "machine": machine(), "pid": os.getpid(), "sources": sources_digest(),
        "commit": commit(), "python": platform.python_version(), "packages": packages(*COMPUTING),
        "processor": processor_class(), "bfloat16": native_bfloat16(),
    }  # fmt: skip


LONGEST = 1 << 16
"""Most characters of what a machine says of itself."""
_WORDS = re.compile(r"[\w .+:/()-]{0,300}")
_TEXTS = ("host", "machine", "sources", "commit", "python", "processor")


def read_facts(text: Any) -> dict[str, Any]:
    """Return what another process says of itself; raise `ValueError` unless it has the form of `facts`."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError(f"expected at most {LONGEST} characters of JSON, got {type(text).__name__}")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"expected JSON, got {text[:40]!r}") from None
    if not isinstance(found, dict) or not isinstance(found.get("packages"), dict):
        raise ValueError(f"expected what a machine says of itself, got {text[:40]!r}")
    words = {name: found.get(name) for name in _TEXTS} | {f"package {k}": v for k, v in found["packages"].items()}
    for name, value in words.items():
        if not isinstance(value, str) or not _WORDS.fullmatch(value) or not _WORDS.fullmatch(name):
            raise ValueError(f"expected words as its {name[:40]!r}, got {str(value)[:60]!r}")
    if type(found.get("pid")) is not int or type(found.get("bfloat16")) is not bool:
        raise ValueError(f"expected a process and whether it has bfloat16, got {text[:40]!r}")
    return found


def machine() -> str:
    """Return Ray's name of this machine; "" where this process belongs to no cluster."""
    ray = sys.modules.get("ray")
    return str(ray.get_runtime_context().get_node_id()) if ray is not None and ray.is_initialized() else ""


def processor_class() -> str:
    """Return the class of this machine's processor, e.g. "x86_64 avx2 fma avx512f"."""
    flags = processor_flags().split()
    return " ".join([platform.machine(), *(flag for flag in WIDE if flag in flags)])


def refusal(own: dict[str, Any], other: dict[str, Any], library: str, precision: str) -> str:
    """Return why a machine cannot play this one's games, and what to do; "" if it can.

    library: the one that evaluates the network, "openvino" or "onnxruntime"; the other one is not compared.
    """
    host = other["host"]
    if other["sources"] != own["sources"]:
        wanted, got = (f"commit {side['commit'] or 'unknown'}" for side in (own, other))
        got += " with other files" if wanted == got else ""
        return f"{host}: expected the program of this machine ({wanted}), got {got}; make the folders the same"
    unused = {"openvino": "onnxruntime", "onnxruntime": "openvino"}[library]
    mine, theirs = ({"python": side["python"], **side["packages"]} for side in (own, other))
    for name in mine:
        if name != unused and mine[name] != theirs.get(name):
            got = theirs.get(name) or "none"
            return f"{host}: expected {name} {mine[name]} as on this machine, got {got}; install the same"
    if precision == "bfloat16" and other["bfloat16"] != own["bfloat16"]:
        which = "no processor" if own["bfloat16"] else "a processor"
        return f"{host}: expected processors alike for bfloat16, got {which} that has it; --precision float32 suits all"
    return ""
