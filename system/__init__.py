"""What this operating system offers, asked in one place: files, processes, the machine. Imports no other folder."""
