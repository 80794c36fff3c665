"""What holds for every test: one thread for the kernels, and the same examples on every run."""

import os

import hypothesis

from tools.notebooks import ONE_THREAD

# The notebooks were stored so; and several threads on busy processors wait for each other.
os.environ.update(ONE_THREAD)
hypothesis.settings.register_profile("course", derandomize=True, deadline=None, max_examples=50, print_blob=True)
hypothesis.settings.load_profile("course")
