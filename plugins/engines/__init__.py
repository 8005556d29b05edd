"""Engines for other programs: GTP, the Gomocup protocol, KataGo's analysis protocol."""
