"""An iteration: self-play, retraining, tournament, scoreboard, and who does it. Imports every room but interface/."""
