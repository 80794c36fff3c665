"""Notebook 05: its exercises, one file each, and its predictions."""
