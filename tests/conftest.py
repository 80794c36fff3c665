"""Hypothesis tries the same examples on every run, on any machine."""

import hypothesis

hypothesis.settings.register_profile("course", derandomize=True, deadline=None, max_examples=50, print_blob=True)
hypothesis.settings.load_profile("course")
