"""How compiled code receives its arguments, and what it costs to compile. Imports config and compiled.py only."""
