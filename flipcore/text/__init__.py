"""Pure functions on text: prompts, answers, log-probabilities, similarity, flipped bits, differences, dates."""
