"""Notebook 08's questions that ask for an answer before they run anything."""
