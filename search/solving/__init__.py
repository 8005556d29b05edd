"""Exact values: proofs, look-ahead, wins by force, solved endings. The search calls them through search/solver.py."""
