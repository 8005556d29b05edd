"""Functions as numba compiles them, with less work than numba's own: what the decorators of compiled.py make.

numba optimises each function, makes machine code of it and a wrapper for Python, and then does all of it again for each
function that calls it, with the callee's code taken in. Here a function that compiled code calls is kept as LLVM's
code and optimised in its callers only, and what Python or a function pointer calls is compiled as an entry of its own.
"""

from __future__ import annotations

from functools import cached_property
from types import FunctionType
from typing import Any

from compiling.kept_code import KeptCode
from compiling.numba_import import llvmlite, numba
from compiling.ready_code import ReadyCode
from system.collector import resting

cgutils = numba.core.cgutils
codegen = numba.core.codegen
extending = numba.extending
CFunc = numba.core.ccallback.CFunc
CPUDispatcher = numba.core.registry.CPUDispatcher


class _PartLibrary(codegen.JITCodeLibrary):
    """Code of a function that only compiled code calls: kept as LLVM's bitcode, optimised in its callers only."""

    class _NoEngine:
        def set_env(self, name: str, env: Any) -> None:
            """Nothing runs here, so there is no environment to run in."""

    codegen = property(lambda self: self._NoEngine())

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        return self.name, "part", self._get_module_for_linking().as_bitcode()


_unserialize_numbas = codegen.JITCPUCodegen.unserialize_library


def _unserialize(own: Any, state: Any) -> Any:
    """Return the library that was kept on disk: a part, or one of numba's own kinds."""
    name, kind, data = state
    if kind != "part":
        return _unserialize_numbas(own, state)
    library = _PartLibrary(own, name)
    module = llvmlite.binding.parse_bitcode(data)
    library._final_module = module
    library._shared_module = module
    library._finalized = True
    return library


codegen.JITCPUCodegen.unserialize_library = _unserialize


class PartCompiler(numba.core.compiler.Compiler):
    def define_pipelines(self) -> Any:
        state = self.state
        state.flags.no_cpython_wrapper = True
        target, name = state.targetctx, state.func_id.func_qualname
        state["library"] = _PartLibrary(target.codegen(), name)
        return super().define_pipelines()


class Entry(CPUDispatcher):
    """A function as Python calls it."""

    def compile(self, signature: Any) -> Any:
        with resting():
            return super().compile(signature)


class CompiledFunction(CPUDispatcher):
    """A function compiled as a part of each compiled function that calls it, and with an entry where Python does."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=PartCompiler)
        self._cache = KeptCode(function)

    @cached_property
    def entry(self) -> Any:
        """The function for Python to call."""
        function = self.twin("entry")
        made = Entry(function, targetoptions=self.targetoptions)
        made._cache = ReadyCode(function)
        return made

    def twin(self, purpose: str) -> Any:
        """Return the Python function once more, under a name by which its machine code is kept apart."""
        of = self.py_func
        twin = FunctionType(of.__code__, of.__globals__, of.__name__, of.__defaults__, of.__closure__)
        twin.__qualname__ = f"{of.__qualname__}.{purpose}"
        return twin

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what a call compiles: the same for 1 and 2, where numba compiles once for each constant."""
        plain = numba.core.types.unliteral
        return super().get_call_template(tuple(map(plain, args)), {name: plain(kind) for name, kind in kws.items()})

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result

    def _compile_for_args(self, *args: Any, **words: Any) -> Any:
        """Return the entry for arguments of these types; the next call with such finds it without asking here."""
        found = self.entry._compile_for_args(*args, **words)
        signature = tuple(map(self.typeof_pyval, args))
        if made := self.entry.overloads.get(signature):
            self._insert([kind._code for kind in signature], made.entry_point)
        return found

    @property
    def stats(self) -> Any:
        return self.entry.stats


class Rule(CFunc):
    """A function with a C address, which is compiled when its address is first needed."""

    def __init__(self, function: Any, signature: Any) -> None:
        super().__init__(function, numba.core.sigutils.normalize_signature(signature), {}, {"forceinline": True})
        self._cache = ReadyCode(function)

    def _compile_uncached(self) -> Any:
        with numba.core.event.trigger_event("numba:compile", data={"dispatcher": self, "args": self._sig.args}):
            return super()._compile_uncached()

    @property
    def address(self) -> int:
        if self._wrapper_address is None:
            with numba.core.compiler_lock.global_compiler_lock:
                if self._wrapper_address is None:  # else another thread has compiled it meanwhile
                    with resting():
                        self.compile()
        return int(self._wrapper_address)


class Function(numba.types.FunctionType):
    """The type of a function passed to compiled code, which reads the object's `address`.

    numba's own type calls the interpreter for it, 9 us per function, and a game has nine rules.
    """


extending.register_model(Function)(numba.experimental.function_type.FunctionModel)


@extending.typeof_impl.register(CFunc)
def _typeof_function(value: Any, context: Any) -> Any:
    return Function(value._sig)


@extending.unbox(Function)
def _unbox_function(kind: Any, value: Any, c: Any) -> Any:
    function = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    address = c.pyapi.object_getattr_string(value, "address")
    missing = cgutils.is_null(c.builder, address)
    with c.builder.if_then(c.builder.not_(missing), likely=True):
        function.c_addr = c.pyapi.long_as_voidptr(address)
        c.pyapi.decref(address)
    return extending.NativeValue(function._getvalue(), is_error=missing)
