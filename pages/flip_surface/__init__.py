"""The parts of the Flip surface page."""
