"""How people and programs reach all this: command line, console, notebook, page, doctor. Imports every room."""
