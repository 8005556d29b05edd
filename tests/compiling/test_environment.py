"""What libraries find when they are imported."""

import importlib
import sys
import threading

import pytest

from compiling.environment import Without


def test_a_module_left_out_is_not_found_by_this_thread_until_the_block_ends(tmp_path, monkeypatch):
    for name in ("left_out", "left_in"):
        (tmp_path / f"{name}.py").write_text("import sys\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    elsewhere = []
    with Without("left_out", "sys"):
        for name in ("left_out", "left_out.part"):
            with pytest.raises(ModuleNotFoundError, match=f"No module named '{name.split('.')[0]}'"):
                importlib.import_module(name)
        importlib.import_module("left_in")  # and what it imports, which is loaded already
        other = threading.Thread(target=lambda: elsewhere.append(importlib.import_module("left_out")))
        other.start()
        other.join()
    assert elsewhere == [importlib.import_module("left_out")]
    for name in ("left_out", "left_in"):
        del sys.modules[name]
