"""What an instructor is given."""
