"""Notebook 04: its exercises, one file each, and its predictions."""
