"""What people do wrong in the exercises of `self_attention`."""
