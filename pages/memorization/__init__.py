"""The parts of the Memory page."""
