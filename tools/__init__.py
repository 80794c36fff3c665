"""What a maintainer runs: `python -m tools.writing.refresh` and the like."""
