"""The trained models that run on a learner's attention."""
