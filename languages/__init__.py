"""The languages of the page, the console and the notebook: English in the code, catalogues of the others; imports
nothing of the project."""
