"""The parts of the Access page."""
