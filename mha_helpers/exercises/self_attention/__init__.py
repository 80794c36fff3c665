"""Notebook 01: its exercises, one file each, and its predictions."""
