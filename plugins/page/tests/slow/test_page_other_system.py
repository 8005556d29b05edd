"""The page where POSIX is not: tests/slow/system/test_other_system.py says what is missing there."""

import re
import signal
from urllib.request import urlopen

import pytest

from plugins.page.tests.page_server import free_port
from support.systems import needs_posix
from support.without_posix import start

pytestmark = needs_posix


def test_the_page_answers_and_ends_at_a_request(tmp_path):
    pytest.importorskip("starlette")
    server = start(tmp_path, "main.py", "serve", "--no-open", "--port", str(free_port()))
    try:
        address = re.findall(r"http://\S+", server.stdout.readline())[0]
        assert b"AlphaZero" in urlopen(address, timeout=600).read()
    finally:
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate()
    assert server.returncode in (0, 130) and "Traceback" not in errors, errors
