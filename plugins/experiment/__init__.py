"""Experiments: does an idea help, by how much, how sure is that; and reports of runs and experiments as one file."""
