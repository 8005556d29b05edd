"""A headless Chromium for tests: whether there is one, how it is started, and waiting for what it shows."""

import importlib.util
import shutil
import time

import pytest

_PROGRAMS = shutil.which("chromium") and shutil.which("chromedriver")
needs_browser = [
    pytest.mark.skipif(not importlib.util.find_spec("selenium"), reason="needs selenium to drive a browser"),
    pytest.mark.skipif(not _PROGRAMS, reason="needs chromium and chromium-driver"),
    pytest.mark.timeout(900),
]

PATIENCE = 300.0
"""Seconds that a test waits for something at most; nothing takes that long but on a busy machine."""


FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
    "--disable-extensions",  # from here on: what a browser does besides
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
)


def until(ask, seconds=PATIENCE):
    """Ask until the answer is true, and return it; the longer it takes, the more seldom: to ask takes time as well."""
    end, wait = time.monotonic() + seconds, 0.01
    while not (answer := ask()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(wait)
        wait = min(1.5 * wait, 0.1)
    return answer


def chromium(*arguments):
    """Start a browser that keeps its logs and what it asked of the network."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in (*FLAGS, *arguments):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    driver.set_script_timeout(60)
    return driver
