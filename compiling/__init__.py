"""How functions are compiled and machine code is kept, below compiled.py. Imports config and the folders below it."""
