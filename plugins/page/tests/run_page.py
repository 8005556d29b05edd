"""Runs the command line with the runs in another folder: `run_page.py FOLDER serve --port 8080`."""

import sys
from pathlib import Path

HERE = Path(__file__).parents[3]
sys.path[:0] = [str(HERE), str(HERE / "tests")]

if __name__ == "__main__":
    root, argv = sys.argv[1], sys.argv[2:]
    from storage import run_folders

    run_folders.RUNS = Path(root)
    run_folders.SHIPPED = run_folders.EARLY = Path(root) / "none"
    if argv[0] == "serve":
        from plugins.page import training_process

        training_process.COMMAND = [sys.executable, __file__, root, "train"]
    else:
        from support.command_line import SMALL

        argv += [*SMALL[2:], "--iterations", "400"] if "--new" in argv else []
    from interface.cli import run

    sys.exit(run(argv))
