"""Labs of notebook 03."""
