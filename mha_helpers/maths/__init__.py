"""Attention and what is measured of it, its examples and its training: NumPy in, NumPy out."""
