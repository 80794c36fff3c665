"""What people do wrong in the exercises of `a_model_that_writes`."""
