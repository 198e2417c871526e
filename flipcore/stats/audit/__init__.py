"""Checks of a log's reported numbers by its rows."""
