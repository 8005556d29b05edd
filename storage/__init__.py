"""What a run keeps on disk, files of games, and the repair of damaged runs. Imports games, game.py and config.py."""
