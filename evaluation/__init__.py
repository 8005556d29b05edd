"""How strong is a player, with intervals: matches, ratings, exact values, the ladder. Imports players, no training."""
