"""A player in one file: rules, search and network as WebAssembly, for any browser."""
