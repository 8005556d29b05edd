"""Drawn pictures for notebooks: the loop, the network, a growing tree, versions; a board to click on."""
