"""The parts of the Report page."""
