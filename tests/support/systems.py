"""What a test needs of the system that it runs on."""

import sys

import pytest

needs_posix = pytest.mark.skipif(
    sys.platform == "win32", reason="needs what only POSIX has: signals, modes of files, pipes with names, links"
)
