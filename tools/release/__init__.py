"""Versions, platforms and addresses."""
