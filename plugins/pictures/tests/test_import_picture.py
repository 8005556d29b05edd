"""docs/imports.svg is what its command draws of the program as it is."""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parents[3]


def test_the_drawing_of_the_imports_is_up_to_date():
    command = [sys.executable, str(HERE / "docs" / "import_picture.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}: run `python docs/import_picture.py`"
