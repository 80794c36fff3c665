"""Labs of notebook 09."""
