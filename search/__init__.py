"""The tree search, compiled: one simulation in four phases, many trees at once, solvers. Imports game rules only."""
