"""Machinery that only makes the search faster and need not be read with it. Imports the tables of search."""
