"""What a person at the console sees and types in a game. Imports languages, system and games."""
