"""Judging somebody else's function: calling it safely, comparing what it gives, telling what is wrong and where.

It needs NumPy alone, and knows no task and no mistake: these are handed in.
"""
