"""What people do wrong in the exercises of `masking`."""
