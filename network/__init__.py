"""Who answers for the network, how it is trained and enlarged. Imports storage, games and memory.py; no search."""
