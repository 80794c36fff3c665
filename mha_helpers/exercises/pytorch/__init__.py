"""The exercise of notebook B."""
