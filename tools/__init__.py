"""What a maintainer runs: `python -m tools.refresh`, `python -m tools.hygiene`, `python -m tools.solve`."""
