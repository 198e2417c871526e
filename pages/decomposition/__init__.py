"""The parts of the Decomposition page."""
