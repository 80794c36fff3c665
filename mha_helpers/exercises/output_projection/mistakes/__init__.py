"""What people do wrong in the exercises of `output_projection`."""
