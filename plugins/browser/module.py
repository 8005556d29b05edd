"""Compiled functions as one WebAssembly module: LLVM's code of each, with 32-bit addresses, optimised once more.

numba makes LLVM code for this computer's processor; nothing in that code depends on the processor but its header, as
long as it is taken before it is optimised as a whole (`PartCompiler`). Addresses in records are 8 bytes as natively, so
that the tables are laid out the same; WebAssembly reads the lower half.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Set
from pathlib import Path
from types import FunctionType
from typing import Any

from compiling.functions import PartCompiler
from compiling.kept_code import KeptCode
from compiling.numba_import import llvmlite, numba
from config import UserError
from system.reading import LINES_BYTES, read_limited

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+simd128,+bulk-memory,+sign-ext,+nontrapping-fptoint,+mutable-globals"
IMPORTS = frozenset({"acos", "cos", "exp", "log", "log2", "pow", "sin", "tanh"})
"""Functions of the module `env` that JavaScript's Math has; a rule that calls another is refused by the linker."""
NO_LINKER = "export-page needs a linker for WebAssembly, which is not installed; `pip install ziglang`"
RAISING = "numba_", "Py"
"""Beginnings of the names by which numba's code hands an exception to Python; `engine.js` throws an error instead."""
PAGES = 32_768
"""Most memory, in pages of 64 KiB: 2 GiB."""


class Part(numba.core.ccallback.CFunc):
    """A function with a C signature as LLVM's code, which is kept on disk like that of other functions."""

    _wrapper_name: str
    _library: Any

    def __init__(self, function: Any, signature: Any) -> None:
        twin = FunctionType(
            function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
        )
        twin.__qualname__ = f"{function.__qualname__}.browser"
        options = {"forceinline": True, "_nrt": False}
        normal = numba.core.sigutils.normalize_signature(signature)
        super().__init__(twin, normal, {}, options, pipeline_class=PartCompiler)
        self._cache = KeptCode(twin)

    def code(self) -> tuple[str, Any]:
        """Return (the function's name, its LLVM module)."""
        made: Any = self
        with numba.core.compiler_lock.global_compiler_lock:
            made.compile()
        return made._wrapper_name, made._library._get_module_for_linking()


def link(functions: Mapping[str, Part]) -> bytes:
    """Return the module that exports these functions by name; memory is imported as `env.memory`."""
    binding = llvmlite.binding
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(TRIPLE).create_target_machine(
        cpu="generic", features=FEATURES, opt=3, reloc="static", codemodel="small"
    )
    whole = binding.parse_assembly(f'target datalayout = "{machine.target_data}"\ntarget triple = "{TRIPLE}"\n')
    for name, part in functions.items():
        inner, code = part.code()
        module = binding.parse_assembly(_for_wasm(str(code), str(machine.target_data)))
        function = module.get_function(inner)
        function.name, function.linkage = name, "external"  # else it is left out, as nothing calls it
        whole.link_in(module)
    for function in whole.functions:
        if not function.is_declaration:
            function.linkage = "external" if function.name in functions else "internal"
    for variable in whole.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    passes = binding.create_pass_builder(machine, options)
    passes.getModulePassManager().run(whole, passes)
    named = [each.name for each in (*whole.functions, *whole.global_variables) if each.is_declaration]
    raising = {name for name in named if name.startswith(RAISING)}
    return _linked(machine.emit_object(whole), list(functions), IMPORTS | raising)


def _for_wasm(text: str, layout: str) -> str:
    """Return LLVM's code of a module with another header, and without Python's exceptions, which name files here."""
    text = re.sub(r'target datalayout = ".*"', f'target datalayout = "{layout}"', text)
    text = re.sub(r'target triple = ".*"', f'target triple = "{TRIPLE}"', text)
    text = re.sub(r'(@\.const\.pickledata\.\w+ = [^"\n]*) c"[^"]*"', r"\1 zeroinitializer", text)
    return re.sub(r'"target-cpu"="[^"]*"|"target-features"="[^"]*"', "", text)


def linker() -> list[str]:
    """Return the command of LLVM's linker for WebAssembly; raise `UserError` where there is none."""
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "wasm-ld"]
    found = shutil.which("wasm-ld") or shutil.which("wasm-ld-19") or shutil.which("wasm-ld-18")
    if found is None:
        raise UserError(NO_LINKER)
    return [found]


def _linked(code: bytes, exports: list[str], imports: Set[str]) -> bytes:
    command = linker()
    with tempfile.TemporaryDirectory() as folder:
        made, out, known = (Path(folder, name) for name in ("all.o", "all.wasm", "imports"))
        made.write_bytes(code)
        known.write_text("\n".join(sorted(imports)), encoding="utf-8")
        options = [
            "--no-entry",
            f"--allow-undefined-file={known}",
            "--import-memory",
            "--export-table",
            "--growable-table",
            "--strip-all",
            "--export=__heap_base",
            f"--max-memory={PAGES << 16}",
        ]
        wanted = [f"--export={name}" for name in exports]
        done = subprocess.run([*command, *options, *wanted, "-o", out, made], capture_output=True)
        if done.returncode:
            raise UserError(f"{command[-1]}: {done.stderr.decode(errors='replace').strip()[:500]}")
        return read_limited(out, LINES_BYTES)
