"""Checks of prose, names and layout, run before a release: ``python -m tests.release``."""
