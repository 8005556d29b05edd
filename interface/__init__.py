"""What people and programs use: command line, console, notebook, page, doctor. Imports every room."""
