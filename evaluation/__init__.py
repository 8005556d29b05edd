"""How strong a player is: matches, promotion, ratings, exact values, the ladder. Imports players and below."""
