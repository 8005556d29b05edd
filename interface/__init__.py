"""How people and programs reach it: command line, console, page, notebook, doctor. Nothing else imports it."""
