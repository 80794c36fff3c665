"""What a test runs in a process of its own, and what needs a framework that isn't installed, is not imported here."""

from importlib.util import find_spec

collect_ignore = ["keras_of_ones_own.py", *([] if find_spec("torch") else ["masks_that_meet.py"])]
