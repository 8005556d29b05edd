"""An iteration: self-play, retraining, tournament, scoreboard, workers. Imports every room but interface."""
