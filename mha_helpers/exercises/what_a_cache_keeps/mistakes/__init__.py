"""What people do wrong in the exercises of `what_a_cache_keeps`."""
