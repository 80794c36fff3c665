"""Notebook 07: its exercises, one file each, and its predictions."""
