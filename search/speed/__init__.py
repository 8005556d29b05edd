"""Code that only makes the search faster and can be skipped when reading it. Imports the tables of search."""
