"""What the course promises to keep small or fast, measured."""
