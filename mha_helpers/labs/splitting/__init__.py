"""Labs of notebook 04."""
