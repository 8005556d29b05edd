"""The beginning of the program: Ctrl-C counts before anything else is loaded."""

from __future__ import annotations

import sys
from typing import NoReturn


def command() -> NoReturn:
    """Run the command line of this process, and end it. An installed program is started here, as `alphazero`."""
    from system.collector import alone_here
    from training.stop_signals import end_in_time, leave

    try:
        end_in_time()
        alone_here()
        from interface.cli import run

        leave(run(sys.argv[1:]))
    except KeyboardInterrupt:
        leave(130)
