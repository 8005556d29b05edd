"""What an iteration does: self-play, retraining, tournament, scoreboard, and who does it. Imports all but interface/."""
