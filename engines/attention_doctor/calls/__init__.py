"""Calls of somebody else's code: in its own framework, within a limit of time, with seeded random numbers."""
