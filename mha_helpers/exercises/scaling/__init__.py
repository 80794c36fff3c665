"""Notebook 02: its exercises, one file each, and its predictions."""
