"""The parts of the Survey page."""
