"""The command line: reads arguments, calls the work, shows the result. Nothing heavy is imported early."""

from __future__ import annotations

import contextlib
import difflib
import io
import logging
import os
import sqlite3
import sys
from collections.abc import Sequence

from config import VERSION, UserError
from interface.commands import COMMANDS, GROUPS, module, take_as_ctrl_c
from interface.missing_packages import NEEDED, PACKAGES, lacking
from system.files import FULL
from system.place import PREFIX, requirements
from system.terminal import folded, harmless

SUMMARY = """usage: python main.py [COMMAND] [OPTIONS]      python main.py COMMAND --help
%s
--game: one of games/, of OpenSpiel (open_spiel:hex), or yours (file.py:Class).
Runs are kept in run/, or in the folder that ALPHAZERO_RUNS names.

examples:
  python main.py play                 play Connect 4, network included
  python main.py --preset tiny --new  learn tic-tac-toe in two minutes
  python main.py                      learn Connect 4, or resume it
  python main.py explain --moves 4453
"""


def run(argv: Sequence[str]) -> int:
    """Run a command line; return the exit code."""
    _open_streams()
    if logging.lastResort is not None:  # it shows warnings
        logging.lastResort.setFormatter(_Warning())
    take_as_ctrl_c("SIGTERM", "SIGBREAK")  # process 1 of a container ignores it otherwise
    try:
        try:
            return _run(list(argv))
        finally:
            _flush()
    except UserError as error:
        _say_error("\n".join(_words(error, argv).splitlines()))
        return error.exit_code
    except KeyboardInterrupt:
        resumes = not argv or argv[0].startswith("-") or argv[0] in ("train", "book")
        resumes = resumes and "--new" not in argv and not any(a.startswith("--initial") for a in argv)
        print(f"\nstopped{'; the same command resumes' if resumes else ''}", file=sys.stderr)
        return 130
    except SystemExit as error:
        if line := _of_own_game(error):
            _say_error(line)
            return 2
        raise
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except OSError as error:
        _say_error(error)
        return 5 if error.errno in FULL else 2
    except sqlite3.DatabaseError as error:
        _say_error(f"the run's database cannot be used: {error}")
        return 4
    except Exception as error:
        from training.stop_signals import requested

        if requested():  # a compiler that is interrupted raises errors of its own
            print("\nstopped", file=sys.stderr)
            return 130
        if line := _of_own_game(error):
            _say_error(line)
            return 2
        if lacking(error, NEEDED | PACKAGES):
            _say_error(_words(error, argv))
            return 2
        if not _memory_is_short(error):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        if argv and argv[0] in COMMANDS and argv[0] != "train":
            hint = "a search needs less with fewer simulations, a match with fewer games"
        else:
            hint = "training needs less with fewer --games-in-flight, a smaller --batch-size or --memory-size"
        _say_error(f"not enough memory ({reason}); {hint}")
        return 2


def _say_error(text: object) -> None:
    """Print an error; its text may hold what a file, another machine or another program said."""
    print("error:", harmless(str(text)), file=sys.stderr)


def _of_own_game(error: BaseException) -> str:
    """Return an error of the code of your own game in one line, "" for any other."""
    own = sys.modules.get(f"{PREFIX}games.own")
    return own.line_of(error) if own is not None else ""


def _words(error: BaseException, argv: Sequence[str]) -> str:
    """Return the message of an error; if a package is missing, which, and how to install it."""
    known = NEEDED | PACKAGES
    if "pip install" in str(error) or not (name := lacking(error, known)):
        return str(error)
    command = argv[0] if argv and argv[0] in COMMANDS else "train"
    return f"{command} needs {name}, which is not installed here: `pip install -r {requirements(known[name])}`"


def _memory_is_short(error: BaseException) -> bool:
    """Return whether an error says that there is no more memory, or no more threads, in the words of any library."""
    if isinstance(error, MemoryError) or type(error).__name__ == "ResourceExhaustedError":  # TensorFlow's
        return True
    words = ("failed to map segment", "annot allocate memory", "can't start new thread", "can't alloc", "bad_alloc",
             "Resource temporarily unavailable")  # fmt: skip
    return any(word in str(error) for word in words)


def _open_streams() -> None:
    """Let what is printed go nowhere where a stream is closed, and show what its encoding lacks as "?"."""
    for name in ("stdin", "stdout", "stderr"):  # in this order each gets its own file descriptor
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115
        elif name != "stdin" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


class _Warning(logging.Formatter):
    """Shows a warning in lines that fit the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return folded(super().format(record), sys.stderr)


def _flush() -> None:
    """Flush what was printed; a failure is raised here, and not printed by Python at its exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError, ValueError):  # unsent text is dropped
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        raise


def _run(argv: list[str]) -> int:
    if argv[:1] == ["help"]:
        argv = [*argv[1:2], "--help"]
    if argv and argv[0] in ("-h", "--help"):
        commands = "".join(
            f"\n{title}:\n" + "".join(f"  {name:<15}{what}\n" for name, what in group.items())
            for title, group in GROUPS.items()
        )
        print(SUMMARY % commands, end="")
        return 0
    if argv[:1] == ["--version"]:
        print(f"alphazero-keras {VERSION}")
        return 0
    name = "train"
    if argv and not argv[0].startswith("-"):
        name = argv.pop(0)
        if name not in COMMANDS:
            from interface.arguments import game_meant

            near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.55)
            hint = f"; did you mean {near[0]!r}?" if near else game_meant(name)
            raise UserError(f"expected a command out of {', '.join(COMMANDS)}, got {name[:60]!r}{hint}")
    return int(module(name).run(argv))
