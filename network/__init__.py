"""The network's predictors, its optimizers and its enlargement. Imports storage, games and memory.py; no search."""
