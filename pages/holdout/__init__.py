"""The parts of the Holdout page."""
