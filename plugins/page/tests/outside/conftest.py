"""One page and one browser for all tests of the page in a browser."""

from plugins.page.tests.browser_page import address, browser, served  # noqa: F401
