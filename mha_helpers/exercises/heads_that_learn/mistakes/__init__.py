"""What people do wrong in the exercises of `heads_that_learn`."""
