"""Judgements of people: their questions, and what their answers allow."""
