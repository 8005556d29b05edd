"""The plugins. Each folder can be deleted; the core runs without any of them."""
