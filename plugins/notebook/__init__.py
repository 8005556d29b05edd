"""Notebook views: a run while it trains, boards to look at and to click on."""
