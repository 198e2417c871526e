"""Pure functions on text: prompts, answers, log-probabilities, similarity, differences, dates."""
