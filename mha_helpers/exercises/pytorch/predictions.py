"""Notebook B asks for no predictions."""
