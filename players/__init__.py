"""Everything that chooses moves. Imports search, network and storage, agent.py and model.py."""
