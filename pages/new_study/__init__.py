"""The parts of the New study page."""
