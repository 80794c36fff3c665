"""Notebook 09: its exercises, one file each, and its predictions."""
