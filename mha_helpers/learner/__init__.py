"""Running a learner's function safely, and saying what happened."""
