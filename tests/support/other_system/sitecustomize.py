"""An operating system without what POSIX has: with this folder first on PYTHONPATH, Python loads it at its start.

Names are hidden from the program's own modules only, since the libraries, Python's and others, need them on the system
on which the test really runs. So each module of the program that imports `os` gets a copy without the hidden names,
whose functions do what they do on Windows. The same holds for /proc and /sys. Processes can be spawned only,
in all modules.
"""

import builtins
import errno
import importlib
import os
import sys
import sysconfig
import types
from pathlib import Path

from hidden_names import HIDDEN, NO_MODULES

HERE = str(Path(__file__).parents[3]) + os.sep
LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep


class Copy(types.ModuleType):
    """A module without some of its names, and with others in the place of some."""

    def __init__(self, module, hidden, others):
        super().__init__(module.__name__)
        self.__dict__.update({k: v for k, v in vars(module).items() if k not in hidden}, **others)


def no_folder_descriptors(call):
    """Return a function of `os` that takes no `dir_fd`."""

    def refusing(*args, **words):
        if any(words.get(name) is not None for name in ("dir_fd", "src_dir_fd", "dst_dir_fd")):
            raise NotImplementedError("dir_fd unavailable on this platform")
        return call(*args, **words)

    return refusing


def opened(path, *args, **words):
    if os.path.isdir(path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return no_folder_descriptors(os.open)(path, *args, **words)


def kill(process, number):
    raise AssertionError(f"on Windows os.kill ends process {process}, whatever the signal ({number})")


def selected(*args):
    import select

    if not any(args[:3]) or any(isinstance(each, int) for each in [*args[0], *args[1], *args[2]]):
        raise OSError(errno.ENOTSOCK, os.strerror(errno.ENOTSOCK))
    return select.select(*args)


def started():
    import subprocess

    class Popen(subprocess.Popen):
        def __init__(self, *args, preexec_fn=None, **words):
            if preexec_fn is not None:
                raise ValueError("preexec_fn is not supported on Windows platforms")
            super().__init__(*args, **words)

    return Popen


OTHERS = {
    "os": lambda: {
        "supports_dir_fd": frozenset(), "open": opened, "kill": kill,
        **{name: no_folder_descriptors(getattr(os, name)) for name in (
            "stat", "replace", "rename", "mkdir", "unlink", "rmdir", "remove", "readlink",
        )},
    },
    "select": lambda: {"select": selected},
    "subprocess": lambda: {"Popen": started()},
    "shutil": lambda: {"rmtree": no_folder_descriptors(importlib.import_module("shutil").rmtree)},
}  # fmt: skip
copies = {}
real_import = builtins.__import__


def is_own(file):
    """Return whether a file is one of the program: not of its tests, nor of an environment in its folder."""
    file = str(file or "")
    return file.startswith(HERE) and not file[len(HERE) :].startswith(("tests" + os.sep, ".", "shared", "venv"))


def imported(name, globals=None, locals=None, fromlist=(), level=0):  # noqa: A002
    if level == 0 and globals is not None and is_own(globals.get("__file__")):
        if name.split(".")[0] in NO_MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name == "multiprocessing" or name.startswith("multiprocessing."):
            spawn_only()
        if name in HIDDEN:
            if name not in copies:
                module = importlib.import_module(name)
                copies[name] = Copy(module, HIDDEN[name], OTHERS.get(name, dict)())
            return copies[name]
    return real_import(name, globals, locals, fromlist, level)


def spawn_only():
    from multiprocessing import context

    for way in ("fork", "forkserver"):
        context._concrete_contexts.pop(way, None)
    context._default_context._default_context = context._concrete_contexts["spawn"]


def no_proc(event, args):
    """Let the program's modules find no /proc and no /sys, also where Python's library opens a file for them."""
    if event in ("open", "os.listdir", "os.scandir") and str(args[0]).startswith(("/proc/", "/sys/")):
        frame = sys._getframe(1)
        while frame is not None and (frame.f_code.co_filename.startswith((LIBRARY, "<")) or frame.f_code is here):
            frame = frame.f_back
        if frame is not None and is_own(frame.f_code.co_filename):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(args[0]))


here = no_proc.__code__
builtins.__import__ = imported
sys.addaudithook(no_proc)
