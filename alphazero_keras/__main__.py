"""`python -m alphazero_keras` is the command line."""

from main import command

command()
