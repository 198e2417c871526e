"""Exports of a study: a report in one file, a dataset, and Every Eval Ever files."""
