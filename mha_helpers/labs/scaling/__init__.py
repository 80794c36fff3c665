"""Labs of notebook 02."""
