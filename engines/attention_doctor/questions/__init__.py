"""What the examination asks, one module a question."""
