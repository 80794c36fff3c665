"""Building the trained models' data."""
