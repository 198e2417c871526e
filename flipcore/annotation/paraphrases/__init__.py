"""Paraphrases under review: queue, verdicts, agreement, effect, exchange, publication."""
