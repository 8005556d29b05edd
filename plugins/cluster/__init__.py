"""Self-play and matches on the machines of a Ray cluster."""
