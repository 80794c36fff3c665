"""Notebook 10: its exercises, one file each, and its predictions."""
