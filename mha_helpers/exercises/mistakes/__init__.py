"""What people do wrong, written down once: by notebook and exercise, and the small steps that it is made of."""
