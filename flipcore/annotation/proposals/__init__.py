"""Paraphrases made by a model, checked by rule, waiting for review."""
