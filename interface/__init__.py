"""What people and programs use: command line, console, notebook. Imports every folder of the core."""
