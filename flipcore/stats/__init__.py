"""Estimators: tables in, estimates out. `base` serves all; then a folder a question: flips, memory, holdout."""
