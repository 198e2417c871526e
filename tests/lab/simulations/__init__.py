"""Populations whose truth is known, and how often intervals, tests and rules hold on them."""
