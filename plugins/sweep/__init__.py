"""Searches a space of settings with Optuna, each trial by the budget rules of an experiment."""
