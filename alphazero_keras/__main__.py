"""`python -m alphazero_keras` is the command line."""

from interface.start import command

if __name__ == "__main__":
    command()
