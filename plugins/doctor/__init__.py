"""The doctor: examines the installation, a game's learning and a run, and names what is wrong and the remedy."""
