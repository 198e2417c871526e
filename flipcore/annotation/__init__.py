"""Judgements of people: the questions to them, and what their answers allow."""
