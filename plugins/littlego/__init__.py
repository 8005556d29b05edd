"""Little-Go as a university course plays it: a move from file to file, its process and its end rule."""
