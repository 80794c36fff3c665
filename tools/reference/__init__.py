"""The pages for looking things up, in `reference/`: what of them follows from notebooks and package."""
