"""Everything that chooses moves without being a network in training: players by name, rollouts, engines, books."""
