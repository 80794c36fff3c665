"""Labs of notebook 07."""
