"""Pages in a real browser: driving one, taking pictures, measuring."""
