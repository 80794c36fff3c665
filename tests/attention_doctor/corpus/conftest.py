"""The entries are imported by the tests and not collected themselves: some need PyTorch."""

collect_ignore_glob = ["*"]
