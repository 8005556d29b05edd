"""`python -m alphazero_keras` is the command line."""

from interface.cli import command

command()
