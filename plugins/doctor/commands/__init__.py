"""The commands of this attachment."""
