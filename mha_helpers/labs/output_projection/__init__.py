"""Labs of notebook 05."""
