"""The network around `model.py`: who answers for it, how it is trained and enlarged. Imports nothing of the search."""
