"""Features of this machine's processor."""

from __future__ import annotations

from system.machine import processor_flags


def native_bfloat16() -> bool:
    """True when this processor multiplies bfloat16 in hardware."""
    return "avx512_bf16" in processor_flags() or has_tiles()


def has_tiles() -> bool:
    """True when it does so in tiles (AMX): ten times as fast as float32. In vectors it is twice as fast."""
    return "amx_bf16" in processor_flags()


def resolve_precision(precision: str) -> str:
    """Return float32 or bfloat16 for a setting that may be "auto", or "int8", which is for self-play alone."""
    return ("bfloat16" if native_bfloat16() else "float32") if precision in ("auto", "int8") else precision
