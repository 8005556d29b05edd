"""Boards and search trees as SVG, for the page and notebooks."""
