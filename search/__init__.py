"""The compiled tree search, its solvers and its log of choices. Imports games, game.py and compiled.py; no network."""
