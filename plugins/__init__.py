"""What is attached to the core. Each folder can be deleted; the core runs without any of them."""
