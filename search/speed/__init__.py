"""Machinery that only makes the search faster: it may be skipped when reading. Imported by search/ and self-play."""
