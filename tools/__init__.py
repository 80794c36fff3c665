"""What maintainers run, by `python -m tools`."""
