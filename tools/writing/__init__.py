"""Writing and checking the stored notebooks."""
