"""Runs run.ipynb and stores it with what it shows: `python docs/notebook_outputs.py`. Needs requirements-dev.txt.

The run is made in a folder that goes afterwards. What only a live notebook can show, such as a board to click on, is
left out; a folder of this machine in the output is an error.
"""

from __future__ import annotations

import base64
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "run.ipynb"
LARGEST = 500_000
"""Bytes of the file."""


def main() -> None:
    nb = nbformat.read(NOTEBOOK, as_version=4)
    with tempfile.TemporaryDirectory() as place:
        environment = {**os.environ, "ALPHAZERO_RUNS": place, "PYTHONWARNINGS": "ignore", "LANGUAGE": "en"}
        client = NotebookClient(nb, timeout=3600, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}})
        client.execute(env=environment)
    for cell in nb.cells:
        clean(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nb.metadata = nbformat.from_dict({"kernelspec": kernel, "language_info": {"name": "python"}})
    text = nbformat.writes(nb) + "\n"
    found = re.findall(r"(?:/home|/tmp|/root|/work)/[\w./-]{1,60}|[A-Z]:\\\\\w+", text)
    parts = [(len(nbformat.v4.writes_json(nbformat.v4.new_notebook(cells=[cell]))), cell.id) for cell in nb.cells]
    if found or len(text) > LARGEST:
        print(sorted(parts)[-6:])
        sys.exit(f"expected no path and at most {LARGEST:,} bytes, got {found[:3]} and {len(text):,} bytes")
    NOTEBOOK.write_text(text, encoding="utf-8")
    print(f"{NOTEBOOK.name}: {len(text):,} bytes")


def clean(cell: Any) -> None:
    """Drop what a stored notebook cannot show."""
    cell.metadata.pop("execution", None)
    if cell.cell_type != "code":
        return
    if "interactive" in cell.metadata.get("tags", []):
        cell.outputs, cell.execution_count = [], None
    cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    for output in cell.outputs:
        output.pop("transient", None)
        if png := output.get("data", {}).get("image/png"):
            output.data["image/png"] = smaller(png)


def smaller(png: str) -> str:
    """Return an image, in base64, with the 64 colours that are nearest to its own: a third of the bytes."""
    file = io.BytesIO()
    Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB").quantize(64).save(file, "png", optimize=True)
    return base64.b64encode(file.getvalue()).decode()


if __name__ == "__main__":
    main()
