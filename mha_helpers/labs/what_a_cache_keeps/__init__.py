"""Labs of notebook 10."""
