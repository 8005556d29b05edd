"""An iteration: self-play, retraining, tournament, scoreboard, workers. Imports every folder but interface."""
