"""Readings of what somebody wrote: arguments, parameters, heads, layouts, masks and positions."""
