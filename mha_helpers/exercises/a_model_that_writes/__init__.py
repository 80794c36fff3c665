"""Notebook 08: its exercises, one file each, and its predictions."""
