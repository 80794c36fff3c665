"""Labs of notebook 06."""
