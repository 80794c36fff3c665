"""What people do wrong in the exercises of `real_model`."""
