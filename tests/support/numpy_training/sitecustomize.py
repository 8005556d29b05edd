"""Sessions whose network learns in NumPy: with this folder first on PYTHONPATH, no training of it loads Keras.

For tests of what is around a training: processes, files, kills. The program's module `model` is numpy_model.py then.
"""

import sys
from importlib.machinery import PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path

FILE = Path(__file__).with_name("numpy_model.py")


class Replaced(PathFinder):
    """Finds `model` in this folder."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return spec_from_file_location("model", FILE) if name == "model" else None


sys.meta_path.insert(0, Replaced)
