"""Estimators: tables in, estimates out. `base` serves all; then a package per question."""
