"""The service worker in Node: it leaves other sites alone, and takes nothing old from the browser's own cache."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import plugins.browser.site

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="needs node")
SCRIPT = Path(__file__).parents[1] / "service_worker.mjs"
WORKER = Path(plugins.browser.site.__file__).with_name("service-worker.js")
SCOPE = "https://ann.example/site/"


def test_it_deletes_its_own_older_pages_only_and_fetches_fresh_ones():
    kept = [f"{SCOPE} old", "another site", "https://ann.example/ old"]
    done = subprocess.run(["node", SCRIPT, WORKER, *kept], capture_output=True, text=True, check=True)
    noted = json.loads(done.stdout)
    assert noted["version"] == f"{SCOPE} new"
    assert noted["deleted"] == [f"{SCOPE} old"]
    assert noted["added"] == [["./", "reload"]]
    assert noted["fetched"] == [[f"{SCOPE}hex.html", "no-cache"]]
