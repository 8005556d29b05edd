"""What a run keeps on disk, and how it is read back: games, networks, files of games. Imports game rules only."""
