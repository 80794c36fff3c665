"""Notebook 07's questions that ask for an answer before they run anything."""
