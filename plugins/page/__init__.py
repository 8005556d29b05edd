"""The browser page: play, look inside the search, watch it learn. Needs `pip install -r requirements-web.txt`."""
