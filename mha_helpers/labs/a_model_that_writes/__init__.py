"""Labs of notebook 08."""
