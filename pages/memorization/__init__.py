"""The parts of the Memorization page."""
