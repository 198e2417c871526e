"""Tests whether two sets could have come from the same source."""
