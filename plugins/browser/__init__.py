"""A player in one HTML file: rules, search and network as WebAssembly, and the page around them."""
