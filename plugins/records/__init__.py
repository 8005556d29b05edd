"""How fast games are learned: goals, the best record of each, and the command that checks a claim by running it."""
