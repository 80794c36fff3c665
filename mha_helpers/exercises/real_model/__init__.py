"""Notebook 06: its exercises, one file each."""
