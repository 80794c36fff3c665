"""What a test runs in a process of its own is not imported here."""

collect_ignore = ["keras_of_ones_own.py"]
