"""Uncertainty of a score: by questions, prompts and reruns."""
