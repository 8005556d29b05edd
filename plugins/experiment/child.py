"""The process of one run: the program of a checkout, with processor time as its clock. Run as a script.

    python child.py CHECKOUT PREFIX CORES PROCESSORS ARGUMENTS OF main.py

It ends at once when its standard input does: with the process that started it, however that ends. CORES 0: the clock
is the usual one. Other work on the machine takes nothing from a run whose minutes are processor time.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from importlib import import_module
from types import SimpleNamespace

TIMED = "stage_bookkeeping", "fit"
"""Modules of training whose clock is that of a run's minutes."""


def _end_with_parent() -> None:
    while os.read(0, 1024):
        pass
    os._exit(137)


def main(argv: list[str]) -> None:
    here, prefix, cores, processors, *arguments = argv
    threading.Thread(target=_end_with_parent, daemon=True, name="end_with_parent").start()
    sys.path.insert(0, here)
    import_module(f"{prefix}system.processes").keep_to([int(number) for number in processors.split(",")])
    if int(cores):
        clock = SimpleNamespace(perf_counter=lambda: time.process_time() / int(cores))
        for name in TIMED:
            vars(import_module(f"{prefix}training.{name}"))["time"] = clock
    sys.argv = [os.path.join(here, "main.py"), *arguments]
    import_module(f"{prefix}interface.start").command()


if __name__ == "__main__":
    main(sys.argv[1:])
