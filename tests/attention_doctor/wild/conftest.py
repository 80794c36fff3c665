"""What is vendored here is read by the doctor, and holds no tests."""

collect_ignore_glob = ["*__*/*.py"]
