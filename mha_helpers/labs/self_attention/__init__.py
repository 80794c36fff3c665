"""Labs of notebook 01."""
