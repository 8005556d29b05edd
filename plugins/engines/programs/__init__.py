"""Programs of others as players, over GTP and Gomocup's protocol."""
