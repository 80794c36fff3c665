"""Notebook 03: its exercises, one file each, and its predictions."""
