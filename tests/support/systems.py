"""What a test needs of the system that it runs on."""

import os
import sys
from importlib.util import find_spec

import pytest

needs_posix = pytest.mark.skipif(
    sys.platform == "win32", reason="needs what only POSIX has: signals, modes of files, pipes with names, links"
)
needs_tensorflow = pytest.mark.skipif(
    find_spec("tensorflow") is None or os.environ.get("KERAS_BACKEND", "tensorflow") != "tensorflow",
    reason="compares with TensorFlow or looks into it; `pip install -r requirements.txt` brings it",
)
