"""The strength of a player: matches, promotion, ratings, exact values, the ladder. Imports players and below."""
